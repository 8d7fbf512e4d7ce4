//! Outputs appear whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tracefast_io::sink::AtomicFile;
use tracefast_io::{Error, ErrorKind};

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = AtomicFile::create(path, true)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn is_root() -> bool {
    // The owner of a process's own folder is its user.
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0
}

#[test]
fn nothing_is_there_before_the_end() {
    let folder = folder();
    let path = folder.path().join("out.parquet");
    fs::write(&path, "before").unwrap();
    let mut file = AtomicFile::create(&path, true).unwrap();
    file.write_all(&vec![b'x'; 1 << 20]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"before");
    // A hidden file in the same folder, so that only a rename remains.
    let there = names(folder.path());
    let temporary = Path::new(&there[0]);
    assert!(there[0].starts_with(".tracefast-out.parquet."), "{there:?}");
    assert_eq!(temporary.extension(), Some("tmp".as_ref()), "{there:?}");
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap().len(), 1 << 20);
    assert_eq!(names(folder.path()), ["out.parquet"]);
}

#[test]
fn what_is_dropped_leaves_nothing() {
    let folder = folder();
    let mut file = AtomicFile::create(&folder.path().join("out"), true).unwrap();
    file.write_all(b"half of it").unwrap();
    drop(file);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn what_a_killed_writer_left_is_removed() {
    let folder = folder();
    let path = folder.path().join("out.parquet");
    let other = AtomicFile::create(&path, true).unwrap();
    for abandoned in [".tracefast-out.parquet.Abc123.tmp", ".tracefast-out.parquet.x.Abc123.tmp"] {
        fs::write(folder.path().join(abandoned), "half").unwrap();
    }
    write(&path, "all").unwrap();
    // What is being written, or belongs to another output, stays.
    let there = names(folder.path());
    assert_eq!(there.len(), 3, "{there:?}");
    assert!(!there.contains(&".tracefast-out.parquet.Abc123.tmp".to_owned()), "{there:?}");
    other.commit().unwrap();
    assert_eq!(names(folder.path()), [".tracefast-out.parquet.x.Abc123.tmp", "out.parquet"]);
}

#[test]
fn permissions_are_the_usual_ones_or_those_of_before() {
    let folder = folder();
    let usual = folder.path().join("usual");
    File::create(&usual).unwrap();
    let path = folder.path().join("out");
    write(&path, "new").unwrap();
    assert_eq!(mode(&path), mode(&usual));
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    write(&path, "newer").unwrap();
    assert_eq!(mode(&path), 0o640);
}

#[test]
fn an_existing_file_may_be_kept() {
    let folder = folder();
    let path = folder.path().join("out");
    fs::write(&path, "before").unwrap();
    let error = AtomicFile::create(&path, false).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Exists));
    assert_eq!(error.path(), Some(&*path));
    assert!(error.hint().is_some());
    assert_eq!(names(folder.path()), ["out"]);

    // Another process creates it after the start.
    let path = folder.path().join("late");
    let mut file = AtomicFile::create(&path, false).unwrap();
    file.write_all(b"ours").unwrap();
    fs::write(&path, "theirs").unwrap();
    let error = file.commit().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Exists));
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(folder.path()), ["late", "out"]);
}

#[test]
fn a_link_stays_a_link() {
    let folder = folder();
    fs::create_dir(folder.path().join("deep")).unwrap();
    let (link, second) = (folder.path().join("link"), folder.path().join("second"));
    symlink("deep/out", &link).unwrap();
    symlink("link", &second).unwrap();
    // The first time, the link has no target.
    for text in ["once", "twice"] {
        write(&second, text).unwrap();
        assert!(link.is_symlink() && second.is_symlink());
        assert_eq!(fs::read(folder.path().join("deep/out")).unwrap(), text.as_bytes());
    }
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    assert_eq!(write(&circle, "").unwrap_err().errno(), Some(libc::ELOOP));
}

#[test]
fn devices_and_pipes_are_written_as_they_are() {
    write(Path::new("/dev/null"), "gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // There is nothing to lose, so it may "exist".
    AtomicFile::create(Path::new("/dev/null"), false).unwrap().commit().unwrap();

    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut text = String::new();
            File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
            text
        })
    };
    write(&pipe, "through").unwrap();
    assert_eq!(reader.join().unwrap(), "through");
    assert_eq!(names(folder.path()), ["pipe"]);
}

#[test]
fn folders_are_refused() {
    let folder = folder();
    for path in [folder.path().to_owned(), folder.path().join("."), "/".into(), "..".into()] {
        let error = AtomicFile::create(&path, true).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::IsADirectory), "{path:?}: {error}");
        assert_eq!(error.errno(), Some(libc::EISDIR));
    }
}

#[test]
fn a_missing_folder_is_named() {
    let folder = folder();
    let path = folder.path().join("no/such/out");
    let error = AtomicFile::create(&path, true).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOENT));
    assert_eq!(error.to_string(), format!("{}: No such file or directory", path.display()));
    assert_eq!(error.hint(), Some("create the folder first"));

    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = AtomicFile::create(&file.join("out"), true).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOTDIR));
}

#[test]
fn a_protected_folder_or_file_is_refused() {
    if is_root() {
        // Permissions do not bind root; a file system that cannot be written does.
        let error = AtomicFile::create(Path::new("/proc/out"), true).unwrap_err();
        assert!(error.errno().is_some());
        assert_eq!(error.path(), Some(Path::new("/proc/out")));
        return;
    }
    let folder = folder();
    let path = folder.path().join("out");
    fs::write(&path, "before").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    assert_eq!(write(&path, "x").unwrap_err().errno(), Some(libc::EACCES));
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let error = write(&folder.path().join("new"), "x").unwrap_err();
    assert_eq!(error.errno(), Some(libc::EACCES));
    assert!(error.hint().is_some());
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn a_full_disk_is_told() {
    let path = Path::new("/dev/full");
    if !path.exists() {
        return;
    }
    // Found only when the buffer is written.
    let error = write(path, "too much").unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOSPC));
    assert_eq!(error.to_string(), "/dev/full: No space left on device");
    assert_eq!(error.hint(), Some("free some space, or write to another disk"));
}

#[test]
fn a_full_disk_keeps_nothing() {
    let folder = folder();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
        .arg(folder.path())
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        return;
    }
    let path = folder.path().join("out");
    let result = (|| {
        let mut file = AtomicFile::create(&path, true)?;
        for _ in 0..64 {
            file.write_all(&vec![b'x'; 64 << 10])?;
        }
        file.commit()
    })();
    let left = names(folder.path());
    let unmounted = Command::new("umount").arg(folder.path()).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert_eq!(result.unwrap_err().errno(), Some(libc::ENOSPC));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn long_names_and_names_without_a_folder() {
    let folder = folder();
    let path = folder.path().join("é".repeat(125) + "x");
    write(&path, "text").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"text");
    let error = write(&folder.path().join("x".repeat(256)), "").unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENAMETOOLONG));
}
