import Foundation
import Testing

@testable import class outpost.RowFile

@Suite("Files of an export")
struct RowFileTests {
    @Test(
        "Names of exported files are distinct, visible and stay in their directory",
        arguments: [
            ("Orders", "Orders.json"), ("Größe", "Größe.json"), ("../../evil", "%2E.%2F..%2Fevil.json"),
            (".hidden", "%2Ehidden.json"), ("a/b", "a%2Fb.json"), ("a%2Fb", "a%252Fb.json"), ("a\0b", "a%00b.json"),
            ("a\u{1B}b", "a%1Bb.json"), ("a\\b", "a%5Cb.json"),
        ])
    func names(set: String, file: String) {
        #expect(RowFile.name(of: set, .json) == file)
    }

    @Test("An export never overwrites a file and follows no link")
    func existing() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, link) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("link"))
        try Data("mine".utf8).write(to: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appendingPathComponent("other"))
        for path in [file.path, link.path] { #expect(throws: (any Error).self) { try RowFile.create(at: path) } }
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/other"))
    }
}
