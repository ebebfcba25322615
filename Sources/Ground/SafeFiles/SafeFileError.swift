#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An error of opening, creating or replacing a file.
package struct SafeFileError: Error, Equatable {
    /// The reasons of an error.
    package enum Reason: Equatable, Sendable {
        /// The name refers to a symbolic link, which is never followed.
        case link
        /// The name refers to a folder, a pipe or a device.
        case notRegular
        /// The file has several names (hard links), so a change would also affect a file elsewhere.
        case severalNames
        /// The file is longer than this number of bytes.
        case tooLong(limit: Int)
        /// Other users can create or replace files in the folder; `mode` is its permissions.
        case openFolder(mode: UInt32)
        /// The folder belongs to a user other than this user and the administrator.
        case foreignFolder(owner: UInt32)
        /// The system refused the operation; `code` is its `errno`.
        case system(code: Int32)
    }

    /// The path of the file or folder.
    package var path: String
    package var reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    /// The system's `errno` for the error, or the closest one.
    package var code: Int32 {
        switch reason {
        case .system(let code): code
        case .link: ELOOP
        case .notRegular, .severalNames: EINVAL
        case .tooLong: EFBIG
        case .openFolder, .foreignFolder: EPERM
        }
    }

    /// The reason without the path, as the end of a sentence.
    package var explanation: String {
        switch reason {
        case .link: "it is a symbolic link, which is not followed; remove the link"
        case .notRegular: "it is not a regular file"
        case .severalNames: "it is also another file under another name (a hard link); remove this name"
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .openFolder(let mode):
            "other users can replace files in its folder (mode \(String(mode, radix: 8))); use chmod go-w"
        case .foreignFolder(let owner): "its folder belongs to another user (number \(owner))"
        case .system(let code): String(cString: strerror(code))
        }
    }
}

extension SafeFileError: CustomStringConvertible {
    /// A description of the problem that names the path.
    package var description: String { "\(path) cannot be used: \(explanation)" }
}
