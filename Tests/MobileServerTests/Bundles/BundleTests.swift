import Crypto
import Foundation
import MobileProtocol
import ODataService
import ServerState
import Testing

@testable import MobileServer

/// A zip archive for tests, with stored entries and values that a test changes.
struct ZipSample {
    struct File {
        var name: String
        var bytes: [UInt8]
        var size: UInt32?
        var packedSize: UInt32?
        var method: UInt16 = 0
        var flags: UInt16 = 0
        var checksum: UInt32?
    }

    var files: [File]
    var count: UInt16?
    var comment: [UInt8] = []

    var bytes: [UInt8] {
        var (all, directory): ([UInt8], [UInt8]) = ([], [])
        for file in files {
            let name = Array(file.name.utf8)
            let offset = UInt32(all.count)
            var fields = numbers16(file.flags, file.method)
            fields += numbers32(
                0, file.checksum ?? Self.checksum(file.bytes), file.packedSize ?? UInt32(file.bytes.count),
                file.size ?? UInt32(file.bytes.count))
            fields += numbers16(UInt16(name.count), 0)
            all += numbers32(0x0403_4B50)
            all += numbers16(20)
            all += fields
            all += name
            all += file.bytes
            directory += numbers32(0x0201_4B50)
            directory += numbers16(20, 20)
            directory += fields
            directory += numbers16(0, 0, 0)
            directory += numbers32(0, offset)
            directory += name
        }
        let start = UInt32(all.count)
        let count = count ?? UInt16(files.count)
        all += directory
        all += numbers32(0x0605_4B50)
        all += numbers16(0, 0, count, count)
        all += numbers32(UInt32(directory.count), start)
        all += numbers16(UInt16(comment.count))
        all += comment
        return all
    }

    private func numbers16(_ numbers: UInt16...) -> [UInt8] { numbers.flatMap { le($0) } }
    private func numbers32(_ numbers: UInt32...) -> [UInt8] { numbers.flatMap { le($0) } }

    private func le<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = .max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = value & 1 == 1
                value >>= 1
                if isOdd { value ^= 0xEDB8_8320 }
            }
        }
        return ~value
    }
}

/// Conformance of `Bundles` (`mobile-server.md` 6.2).
@Suite("Customization bundles") struct BundleTests {
    private static let manifest = #"{"title":"Logo"}"#

    private static var archive: [UInt8] {
        ZipSample(files: [
            .init(name: "manifest.json", bytes: Array(manifest.utf8)),
            .init(name: "images/logo.png", bytes: [UInt8](repeating: 7, count: 1000)),
        ]).bytes
    }

    @discardableResult
    private static func add(
        _ lab: DeviceLab, _ version: String, _ bytes: [UInt8] = archive
    ) async throws -> DeviceBundleRecord {
        let key = DeviceBundleKey(application: lab.application.id, name: "logo", version: version)
        return try await BundleIntake(store: lab.state.bundles).add(key, fileExtension: "zip", ByteStream(bytes))
    }

    @Test("A device sees current bundles, and reads them whole, in ranges, and by ETag")
    func reading() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let record = try await Self.add(lab, "1")
            #expect(record.stage == .staged && record.manifest == Self.manifest)
            let value = "Bundles(Name='logo',Version='1')/$value"
            #expect(try await device.send(server, .get, value).status == 404)
            _ = try await lab.state.bundles.setStage(.current, record.key)
            let listed = try await device.send(server, .get, "Bundles?$filter=Name%20eq%20'logo'")
            let member = (listed.json["value"] as? [[String: Any]])?.first
            let digest = DeviceDocuments.hexadecimal(Array(SHA256.hash(data: Self.archive)))
            #expect(member?["SHA256"] as? String == digest)
            #expect(member?["Stage"] as? String == "current")
            let whole = try await device.send(server, .get, value)
            #expect(whole.status == 200 && whole.bytes == Self.archive)
            let etag = try #require(whole.field("ETag"))
            let part = try await device.send(server, .get, value, fields: ["Range": "bytes=10-19"])
            #expect(part.status == 206 && part.bytes == Array(Self.archive[10..<20]))
            #expect(part.field("Content-Range") == "bytes 10-19/\(Self.archive.count)")
            let last = try await device.send(server, .get, value, fields: ["Range": "bytes=-5", "If-Range": etag])
            #expect(last.status == 206 && last.bytes == Array(Self.archive.suffix(5)))
            #expect(try await device.send(server, .get, value, fields: ["Range": "bytes=99999-"]).status == 416)
            #expect(try await device.send(server, .get, value, fields: ["If-None-Match": etag]).status == 304)
            let head = try await device.send(server, .head, value)
            #expect(head.status == 200 && head.field("Content-Length") == "\(Self.archive.count)")
            let unknown = try await device.send(server, .get, "Bundles(Name='logo',Version='9')/$value")
            #expect(unknown.status == 404 && unknown.code == "BundleUnknown")
        }
    }

    @Test("A bundle for testers is seen by the devices to which it is assigned")
    func testers() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let record = try await Self.add(lab, "1")
            _ = try await lab.state.bundles.setStage(.testers, record.key)
            func count() async throws -> Int? {
                (try await device.send(server, .get, "Bundles").json["value"] as? [Any])?.count
            }
            #expect(try await count() == 0)
            let known = try #require(
                try await lab.state.registrations.registration(device.id, of: lab.application.id))
            var properties = known.device
            properties.bundle = "logo:1"
            _ = try await lab.state.registrations.update(
                device.id, of: lab.application.id, ifMatch: nil, RegistrationChange(device: properties))
            #expect(try await count() == 1)
        }
    }

    @Test("Archives that leave their folder, grow too much or are damaged are refused and leave nothing")
    func hostile() async throws {
        let lab = try await DeviceLab()
        let plain = Array("{}".utf8)
        var archives: [(String, [UInt8])] = [
            ("empty", []), ("text", Array("hello".utf8)), ("cut", Array(Self.archive.dropLast(30))),
            ("moved", [0] + Self.archive),
        ]
        for name in [
            "../a", "a/../../b", "/etc/passwd", "a\\b", "C:a", "", "a//b", "a\u{0}b", "./a", "a/..",
            String(repeating: "n", count: 1025),
        ] {
            archives.append(("name \(name.prefix(9))", ZipSample(files: [.init(name: name, bytes: plain)]).bytes))
        }
        archives.append(
            ("twice", ZipSample(files: [.init(name: "a", bytes: []), .init(name: "A", bytes: [])]).bytes))
        archives.append(
            ("bomb", ZipSample(files: [.init(name: "a", bytes: plain, size: 1 << 30, method: 8)]).bytes))
        archives.append(
            (
                "bombs",
                ZipSample(
                    files: (0..<200).map {
                        .init(name: "\($0)", bytes: [], size: 99, packedSize: 1000, method: 8)
                    }
                ).bytes
            ))
        archives.append(("encrypted", ZipSample(files: [.init(name: "a", bytes: plain, flags: 1)]).bytes))
        archives.append(("method", ZipSample(files: [.init(name: "a", bytes: plain, method: 12)]).bytes))
        archives.append(("count", ZipSample(files: [.init(name: "a", bytes: plain)], count: 2).bytes))
        archives.append(
            ("manifest", ZipSample(files: [.init(name: "manifest.json", bytes: plain, checksum: 1)]).bytes))
        archives.append(
            ("no JSON", ZipSample(files: [.init(name: "manifest.json", bytes: Array("{".utf8))]).bytes))
        archives.append(
            (
                "large",
                ZipSample(files: [
                    .init(name: "manifest.json", bytes: [UInt8](repeating: 32, count: 65_537))
                ]).bytes
            ))
        for (name, bytes) in archives {
            let error = await #expect(throws: ODataError.self, "\(name)") {
                try await Self.add(lab, "1", bytes)
            }
            #expect(error?.status == 422, "\(name)")
        }
        #expect(try await lab.state.bundles.bundles(of: lab.application.id) == [])
        // Nothing unfinished counts against the limit.
        try await Self.add(lab, "1")
        await #expect(throws: ODataError.self) { try await Self.add(lab, "1") }
    }

    @Test("A deflated manifest is unpacked within its announced size")
    func deflated() throws {
        // zlib of Python: compressobj(9, zlib.DEFLATED, -15) of b"{}" * 50.
        let packed: [UInt8] = [0xAB, 0xAE, 0xAD, 0xA6, 0x39, 0x04, 0x00]
        #expect(try BundleArchive.inflated(packed, size: 100) == Array(String(repeating: "{}", count: 50).utf8))
        for size in [0, 99, 101] {
            #expect(throws: ZipError.damaged) { try BundleArchive.inflated(packed, size: size) }
        }
        #expect(throws: ZipError.damaged) { try BundleArchive.inflated([0xFF, 0xFF], size: 10) }
    }

    @Test("An archive has a comment and no manifest")
    func plain() async throws {
        let lab = try await DeviceLab()
        let bytes = ZipSample(
            files: [.init(name: "folder/", bytes: [])], comment: Array(repeating: 0x50, count: 60_000)
        ).bytes
        #expect(try await Self.add(lab, "1", bytes).manifest == nil)
        #expect(try await Self.add(lab, "2", ZipSample(files: []).bytes).manifest == nil)
    }
}
