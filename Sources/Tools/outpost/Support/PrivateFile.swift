import SafeFiles

/// A file that only its owner can read.
enum PrivateFile {
    /// Replaces a file atomically. An existing file or link at the path is replaced and not followed.
    ///
    /// - Returns: the error number of the system; 0 for success.
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
