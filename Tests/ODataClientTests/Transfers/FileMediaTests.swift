import Foundation
import ODataClient
import ODataModel
import ODataService
import Testing

@Suite("Files as media")
struct FileMediaTests {
    @Test(
        "the suffix of a file name determines its media type",
        arguments: [
            ("a.png", "image/png"), ("photos/me.JPG", "image/jpeg"), ("C:\\scans\\one.TIFF", "image/tiff"),
            ("archive.tar.gz", "application/gzip"), ("report.pdf", "application/pdf"), ("notes.txt", "text/plain"),
            ("a.unknown", "application/octet-stream"), ("none", "application/octet-stream"),
            (".png", "application/octet-stream"), ("dir.png/none", "application/octet-stream"),
            ("a.", "application/octet-stream"), ("", "application/octet-stream"),
        ])
    func types(path: String, expected: String) {
        #expect(ByteStream.contentType(ofFile: path) == expected)
    }

    @Test("a file is sent with the media type of its suffix or with the given one")
    func sent() async throws {
        let path = NSTemporaryDirectory() + "outpost-\(UUID().uuidString).png"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("pixels".utf8).write(to: URL(fileURLWithPath: path))
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .put
                ? .empty() : .json(#"{"@odata.context":"$metadata#Photos/$entity","ID":1}"#, status: 201)
        }
        let service = try transport.service()
        let photo = try await service.createMedia(in: "Photos", file: path)
        try await service.setMedia(of: photo, in: "Photos", file: path, contentType: "image/x-own")
        #expect(transport.sent.map { $0["Content-Type"] } == ["image/png", "image/x-own"])
        #expect(transport.sent.map(\.body) == ["pixels", "pixels"])
        await #expect(throws: FileStreamError.self) {
            try await service.createMedia(in: "Photos", file: path + ".missing")
        }
    }
}
