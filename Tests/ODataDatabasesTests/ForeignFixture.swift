import Foundation
import GRDB
import ODataModel
import Testing

@testable import ODataDatabases

/// A temporary folder with a database, and access to it as by another program.
final class ForeignFixture {
    let folder: URL
    let path: String

    /// Creates a database from SQL.
    init(_ sql: String, wal: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("other.db").path
        let queue = try DatabaseQueue(path: path)
        if wal { try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
        try queue.inDatabase { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Copies the Northwind database; `nil` if it is not available.
    init?(northwind: Void) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = root.deletingLastPathComponent().appendingPathComponent("shared/data/northwind.db")
        guard FileManager.default.fileExists(atPath: source.path) else {
            print("Skipped: \(source.path) is not there.")
            return nil
        }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("northwind-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("northwind.db").path
        try FileManager.default.copyItem(at: source, to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs SQL as another program.
    func elsewhere(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.inDatabase { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Returns a value as another program sees it.
    func value<Value: DatabaseValueConvertible>(_ sql: String) throws -> Value? {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.inDatabase { try Value.fetchOne($0, sql: sql) }
    }

    func model(_ options: ForeignModel.Options = .init()) throws -> ForeignModel {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try ForeignModel(reading: $0, options: options) }
    }
}
