import Foundation

/// A folder of mode 0700 that goes with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/safe-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Makes a file with content and permissions.
    @discardableResult
    func file(_ name: String, _ content: String = "content", mode: Int = 0o600) throws -> String {
        try content.write(toFile: self(name), atomically: false, encoding: .utf8)
        try setMode(mode, of: name)
        return self(name)
    }

    /// Makes a folder with permissions.
    @discardableResult
    func folder(_ name: String, mode: Int = 0o700) throws -> String {
        try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: false)
        try setMode(mode, of: name)
        return self(name)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self(name), withDestinationPath: target)
    }

    func content(_ name: String) throws -> String { try String(contentsOfFile: self(name), encoding: .utf8) }

    func mode(_ name: String) throws -> Int {
        let mode = try FileManager.default.attributesOfItem(atPath: self(name))[.posixPermissions] as? NSNumber
        return mode?.intValue ?? 0
    }

    private func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self(name))
    }
}
