import SafeFiles

/// A file that only its owner can read.
enum PrivateFile {
    /// Writes a file in place of the one before, whole or not at all. What stands at the path, a link as well, is replaced
    /// and not followed.
    ///
    /// - Returns: the error number of the system; 0 when all is well.
    static func replace(_ path: String, by text: String) -> Int32 {
        let (folder, name) = CheckedFolder.place(of: path)
        do throws(SafeFileError) {
            try CheckedFolder(folder).replace(name, with: Array(text.utf8))
            return 0
        } catch {
            return error.code
        }
    }
}
