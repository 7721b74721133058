//! The macro that declares event types.

/// Declares an event type: the fields of the interface and its own.
macro_rules! event_type {
    (
        $(#[$about:meta])*
        $name:ident { $($field:ident: $of:ty,)* }
        $($own:tt)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub(in crate::api) struct $name {
            pub(super) base: $crate::api::events::EventBase,
            $(pub(super) $field: $of,)*
        }

        $(#[$about])*
        #[async_graphql::Object]
        impl $name {
            /// The global id.
            pub(in crate::api) async fn id(&self) -> async_graphql::ID {
                $crate::api::ids::Named::Event(self.base.game, self.base.version).id()
            }

            /// Position in the game, from 1, without gaps. Pass it as `afterVersion` to resume.
            pub(in crate::api) async fn version(&self) -> i32 {
                $crate::api::scalars::int(self.base.version)
            }

            /// The type of the event.
            #[graphql(name = "type")]
            pub(in crate::api) async fn kind(&self) -> $crate::api::events::GameEventType {
                $crate::api::events::GameEventType::of(self.base.event())
            }

            /// When it was recorded.
            pub(in crate::api) async fn recorded_at(&self) -> $crate::api::scalars::DateTime {
                $crate::api::scalars::DateTime(self.base.at)
            }

            /// Who caused the event. Null for the system; staff is visible
            /// to staff only.
            pub(in crate::api) async fn actor(
                &self,
                ctx: &async_graphql::Context<'_>,
            ) -> async_graphql::Result<Option<$crate::api::player::Player>> {
                self.base.actor(ctx).await
            }

            /// The id of the command that caused the event.
            pub(in crate::api) async fn command_id(&self) -> uuid::Uuid {
                self.base.command
            }

            /// One-line English narration. Null if there is nothing to tell.
            pub(in crate::api) async fn summary(
                &self,
                ctx: &async_graphql::Context<'_>,
            ) -> async_graphql::Result<Option<String>> {
                self.base.summary($crate::api::app(ctx)).await
            }

            /// How the points were calculated, one step per line: `300 × 2 = 600`.
            pub(in crate::api) async fn score_breakdown(
                &self,
                ctx: &async_graphql::Context<'_>,
            ) -> async_graphql::Result<Vec<String>> {
                Ok(self.base.score_breakdown($crate::api::app(ctx)).await?)
            }

            /// The game right after this event (not the current state): what an animation needs.
            pub(in crate::api) async fn game_after(
                &self,
                ctx: &async_graphql::Context<'_>,
            ) -> async_graphql::Result<$crate::api::game::GameView> {
                Ok(self.base.game_after(ctx).await?)
            }

            /// The payload exactly as logged and hashed, in `snake_case`. For auditors; clients use
            /// the typed fields.
            pub(in crate::api) async fn payload(
                &self,
            ) -> async_graphql::Result<async_graphql::Json<serde_json::Value>> {
                self.base.payload()
            }

            $($own)*
        }
    };
}

pub(super) use event_type;
