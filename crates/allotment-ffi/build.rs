//! Links the library so that `dlclose` leaves it where it is. A thread that was attached runs code of
//! the library when it ends, perhaps after a `dlclose`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
