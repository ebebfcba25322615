import EncryptedSQLite
import Foundation
import Secrets

/// A temporary folder for one test, which is removed with this object.
final class Folder {
    let url: URL

    /// - Parameter inMemory: Whether to use a memory file system, if the system has one.
    init(inMemory: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        url = (isThere ? memory : FileManager.default.temporaryDirectory.resolvingSymlinksInPath())
            .appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in names {
            // Foundation on Linux leaks a page when it reads an empty file, which the leak checker would
            // report.
            let size = try FileManager.default.attributesOfItem(atPath: path(name))[.size] as? Int
            contents[name] = size == 0 ? Data() : try Data(contentsOf: url.appendingPathComponent(name))
        }
        return contents
    }

    /// Returns the names of the files that contain the text.
    func files(containing text: String) throws -> [String] {
        try contents().filter { $0.value.range(of: Data(text.utf8)) != nil }.map(\.key).sorted()
    }

    /// Copies the current state of every file to a new folder, as a crash would leave it.
    func crashCopy() throws -> Folder {
        let copy = try Folder()
        for name in names {
            try FileManager.default.copyItem(
                at: url.appendingPathComponent(name), to: copy.url.appendingPathComponent(name))
        }
        return copy
    }

    /// Creates an encrypted database with an empty table `t`.
    func database(_ name: String = "a.db", key: EncryptionKey = .generate(), mode: String = "wal") throws -> Connection
    {
        try EncryptedDatabase.create(at: path(name), key: .key(key))
        let connection = try Connection.encrypted(path(name))
        try connection.execute("PRAGMA journal_mode = \(mode); CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        return connection
    }
}

/// Changes bytes of a file.
func edit(_ path: String, _ change: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: path)
    var data = try Data(contentsOf: url)
    change(&data)
    try data.write(to: url)
}

let journalModes = ["wal", "delete", "truncate", "persist"]
