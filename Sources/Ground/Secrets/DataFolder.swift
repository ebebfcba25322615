import Foundation

/// The folder for files that belong to a user of the machine and not to a store: keys and related notes.
package enum DataFolder {
    /// Returns `$XDG_DATA_HOME/outpost` or `~/.local/share/outpost`; on Apple's platforms, `outpost` in
    /// Application Support.
    ///
    /// - Parameter environment: The environment variables of the process.
    /// - Returns: The path of the folder, which need not exist; `nil` if the user has no home folder.
    package static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        #if canImport(Darwin)
            let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            return folders.first.map { $0.path + "/outpost" }
        #else
            return xdgPath(environment: environment)
        #endif
    }

    /// Returns the folder according to the XDG base directory specification for given environment variables.
    package static func xdgPath(environment: [String: String]) -> String? {
        // The specification requires that relative paths are ignored.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/outpost" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/share/outpost"
    }
}
