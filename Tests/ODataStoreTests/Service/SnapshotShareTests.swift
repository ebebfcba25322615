import Foundation
import ODataService
import Testing

@testable import ODataSQL

/// The snapshots for further pages: each caller has a separate limit, and files are removed.
@Suite struct SnapshotShareTests {
    private let ann = CallerID(Principal(name: "ann"))
    private let bob = CallerID(address: "192.0.2.7")

    private func keep(_ shelf: SnapshotShelf<String>, _ id: String, _ bytes: Int, _ owner: CallerID) throws {
        try shelf.begin(owner)
        defer { shelf.finish(bytes, owner) }
        try shelf.grow(bytes, owner)
        shelf.keep(id, as: id, bytes: bytes, owner: owner, at: 0)
    }

    @Test func `one caller cannot push out the results of another`() throws {
        let shelf = SnapshotShelf<String>(SnapshotLimits(count: 2, bytes: 100))
        try keep(shelf, "bob", 60, bob)
        for number in 0..<20 { try keep(shelf, "ann \(number)", 50, ann) }
        #expect(shelf.find("bob", at: 0) != nil)
        #expect(shelf.find("ann 19", at: 0) != nil && shelf.find("ann 18", at: 0) != nil)
        #expect(shelf.find("ann 17", at: 0) == nil)
    }

    @Test func `a result larger than the share is refused, and smaller ones make room for each other`() throws {
        let shelf = SnapshotShelf<String>(SnapshotLimits(count: 8, bytes: 100))
        try keep(shelf, "first", 60, ann)
        try keep(shelf, "second", 60, ann)
        #expect(shelf.find("first", at: 0) == nil && shelf.find("second", at: 0) != nil)
        let error = #expect(throws: ODataError.self) { try keep(shelf, "third", 101, ann) }
        #expect(error?.status == 413 && error?.code == "ResultTooLarge")
        try keep(shelf, "fourth", 100, ann)
        #expect(shelf.find("fourth", at: 0) != nil)
    }

    @Test func `results that are being written count, and one too many is refused with 429`() throws {
        let shelf = SnapshotShelf<String>(SnapshotLimits(count: 2))
        try shelf.begin(ann)
        try shelf.begin(ann)
        let error = #expect(throws: ODataError.self) { try shelf.begin(ann) }
        #expect(error?.status == 429 && error?.retryAfter == 1)
        try shelf.begin(bob)
        shelf.finish(0, ann)
        try shelf.begin(ann)
    }

    @Test func `when all callers have too many, the one with the most makes room`() throws {
        let shelf = SnapshotShelf<String>(SnapshotLimits(count: 3, totalCount: 4))
        for number in 0..<3 { try keep(shelf, "ann \(number)", 1, ann) }
        try keep(shelf, "bob 0", 1, bob)
        try keep(shelf, "bob 1", 1, bob)
        #expect(shelf.find("ann 0", at: 0) == nil && shelf.find("bob 0", at: 0) != nil)
    }

    @Test func `addresses of one network of IPv6 are one caller`() {
        #expect(CallerID(address: "2001:db8:1:2::1") == CallerID(address: "2001:db8:1:2:ffff::9"))
        #expect(CallerID(address: "2001:db8:1:2::1") != CallerID(address: "2001:db8:1:3::1"))
        #expect(CallerID(address: "::ffff:192.0.2.7") == bob)
        #expect(CallerID(address: "192.0.2.7") != CallerID(Principal(name: "192.0.2.7")))
        let claims = ["iss": "https://a.example"]
        #expect(CallerID(Principal(name: "ann", claims: claims)) != ann)
    }

    // MARK: Files

    @Test func `files of a process that has ended are removed, those of one that runs are not`() throws {
        let shared = FileManager.default.temporaryDirectory.appendingPathComponent("spool-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: shared) }
        func folder(_ name: String, mode: Int = 0o700) throws -> String {
            let path = name.isEmpty ? shared : "\(shared)/\(name)"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
            if !name.isEmpty { try Data("sealed".utf8).write(to: URL(fileURLWithPath: "\(path)/result")) }
            return path
        }
        _ = try folder("")
        let (dead, alive, foreign) = (try folder("1-a"), try folder("2-b"), try folder("3-c", mode: 0o777))
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: foreign)
        let outside = try folder("../outside-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: outside) }
        try FileManager.default.createSymbolicLink(atPath: "\(shared)/4-d", withDestinationPath: outside)
        let lock = open("\(alive)/lock", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        SpoolFolder.removeLeftovers(in: shared)
        #expect(!FileManager.default.fileExists(atPath: dead))
        #expect(FileManager.default.fileExists(atPath: "\(alive)/result"))
        #expect(FileManager.default.fileExists(atPath: "\(foreign)/result"))
        #expect(FileManager.default.fileExists(atPath: "\(outside)/result"))
    }
}
