//! `croupier schema`: prints the API as SDL.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::api;

pub(crate) fn run(out: &mut impl Write) -> io::Result<ExitCode> {
    write!(out, "{}", sdl())?;
    Ok(ExitCode::SUCCESS)
}

/// The content of `schema.graphql`.
pub(crate) fn sdl() -> String {
    let options = async_graphql::SDLExportOptions::new()
        .sorted_fields()
        .sorted_arguments()
        .sorted_enum_items()
        .include_specified_by();
    let sdl = api::schema().finish().sdl_with_options(options);
    format!("# The API of croupier. Made by: croupier schema > schema.graphql\n\n{}\n", sdl.trim())
}

#[cfg(test)]
mod tests {
    /// Clients generate code from this file.
    #[test]
    fn the_schema_file_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema.graphql");
        let file = std::fs::read_to_string(path).unwrap_or_default();
        assert!(file == super::sdl(), "run: cargo run --bin croupier -- schema > schema.graphql");
    }
}
