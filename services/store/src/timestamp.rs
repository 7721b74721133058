//! Timestamps with the precision of the database: microseconds.

use sqlx::{
    Decode, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef},
};

/// Microseconds since the Unix epoch; stored as `timestamptz`, which counts from 2000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Micros(pub(crate) i64);

const FROM_1970_TO_2000: i64 = 946_684_800_000_000;

impl Type<Postgres> for Micros {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("timestamptz")
    }
}

impl PgHasArrayType for Micros {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("_timestamptz")
    }
}

impl Encode<'_, Postgres> for Micros {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.0.saturating_sub(FROM_1970_TO_2000).encode_by_ref(buffer)
    }
}

impl Decode<'_, Postgres> for Micros {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        // All our statements are prepared, and those return binary values.
        let micros = i64::from_be_bytes(value.as_bytes()?.try_into()?);
        Ok(Self(micros.saturating_add(FROM_1970_TO_2000)))
    }
}
