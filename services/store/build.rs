//! Embeds the migrations into the program, so that a new file needs no other change.

use std::{error::Error, fmt::Write, path::PathBuf};

const FOLDER: &str = "../../migrations";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={FOLDER}");
    let files = std::fs::read_dir(FOLDER)?.map(|file| file?.path().canonicalize());
    let mut files = files.collect::<Result<Vec<PathBuf>, _>>()?;
    files.sort();
    let mut list = String::from("[");
    for file in files {
        let name =
            file.file_stem().and_then(|name| name.to_str()).ok_or("a file without a name")?;
        let (version, title) = name.split_once('_').ok_or("a migration is NUMBER_NAME.sql")?;
        let version: i64 = version.parse()?;
        let (title, path) =
            (title.replace('_', " "), file.to_str().ok_or("a path that is not UTF-8")?);
        writeln!(list, "({version}, {title:?}, include_str!({path:?})),")?;
    }
    list.push(']');
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("migrations.rs"), list)?;
    Ok(())
}
