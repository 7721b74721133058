-- A node is ready when the database has its schema: it may look.
GRANT SELECT ON _sqlx_migrations TO croupier_app;
