import Foundation

/// The browser of the person.
enum WebBrowser {
    /// Whether a browser can be expected on this machine, in front of the person.
    static var isLikely: Bool {
        let environment = ProcessInfo.processInfo.environment
        if environment["BROWSER"]?.isEmpty == false { return true }
        guard environment["SSH_CONNECTION"] == nil else { return false }
        #if canImport(Darwin)
            return true
        #else
            return environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
        #endif
    }

    /// Opens an address: with the program in `BROWSER`, or with that of the system.
    ///
    /// - Parameter url: An address without secrets, since others on this machine can see the arguments of a program.
    /// - Returns: Whether a program was started.
    static func open(_ url: String) -> Bool {
        guard isLikely else { return false }
        let process = Process()
        #if canImport(Darwin)
            let standard = "open"
        #else
            let standard = "xdg-open"
        #endif
        let chosen = ProcessInfo.processInfo.environment["BROWSER"].flatMap { $0.isEmpty ? nil : $0 }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [chosen ?? standard, url]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return (try? process.run()) != nil
    }
}
