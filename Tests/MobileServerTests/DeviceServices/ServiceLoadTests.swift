import Foundation
import Logging
import ODataHTTP
import ODataService
import ServerState
import Testing

@testable import MobileServer

/// Many devices at once (`mobile-server.md` 6.4, issue 49).
@Suite("The device services under load", .serialized) struct ServiceLoadTests {
    /// The memory of this process in bytes, which the kernel counts.
    private static var memory: Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    private static let folder = FileManager.default.temporaryDirectory

    /// A body that is made while it is read.
    private static func body(_ size: Int) -> ByteStream {
        let rest = Rest(size)
        return ByteStream(length: Int64(size)) { await rest.next() }
    }

    private actor Rest {
        private var count: Int
        init(_ count: Int) { self.count = count }

        func next() async -> [UInt8]? {
            guard count > 0 else { return nil }
            let chunk = [UInt8](repeating: 65, count: min(count, 16 << 10))
            count -= chunk.count
            // The chunks of all uploads take turns, as those of slow devices do.
            await Task.yield()
            return chunk
        }
    }

    @Test("1,000 uploads in parallel need less than 256 MB, and each of them is whole")
    func uploads() async throws {
        let path = Self.folder.appendingPathComponent("load-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let state = try SQLiteServerState.open(folder: path, keys: .generate())
        _ = try await state.migrate(dryRun: false)
        let (before, size) = (Self.memory, 100 << 10)
        let bodies = UploadBodies(store: state.uploads)
        let peak = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<UploadBodies.atOnce {
                group.addTask {
                    let id = "u\(index)"
                    _ = try await state.uploads.begin(
                        NewDeviceUpload(
                            id: id, application: 1, registration: "d\(index)", user: 1, kind: .log,
                            expiresAt: .current() + .seconds(600)))
                    let received = try await bodies.receive(Self.body(size), id, at: 0, limit: 1 << 20)
                    #expect(received == size)
                    let digest = try await bodies.digest(of: id, size: received)
                    _ = try await state.uploads.finish(
                        id, size: received, digest: digest, expiresAt: .current() + .seconds(600))
                    return Self.memory
                }
            }
            return try await group.reduce(0) { max($0, $1) }
        }
        #expect(try await state.uploads.uploads(DeviceUploadFilter()).count == UploadBodies.atOnce)
        #expect(peak - before < 256 << 20, "\((peak - before) >> 20) MB")
        await state.close()
    }

    @Test("5,000 devices wait for messages within 256 MB, and each gets its own")
    func waiters() async throws {
        let state = try SQLiteServerState.inMemory()
        _ = try await state.migrate(dryRun: false)
        let shop = try await state.applications.add(named: "shop", title: "", domain: "default", state: .active)
        let user = try #require(
            try await state.registrations.user(of: shop.id, issuer: "i", subject: "ann", makingWith: "Ann"))
        let count = 5000
        for index in 0..<count {
            _ = try await state.registrations.register(
                NewRegistration(
                    application: shop.id, id: "d\(index)", user: user.id, security: "s", device: DeviceProperties(),
                    settings: []))
        }
        let before = Self.memory
        let bells = MessageBells(state: state, logger: Logger(label: "test"))
        let (woken, peak) = try await withThrowingTaskGroup(of: Bool.self, returning: (Int, Int).self) { group in
            for index in 0..<count {
                group.addTask {
                    let bell = bells.bell(of: "d\(index)", in: shop.id)
                    while true {
                        guard await bell.wait(until: .now + .seconds(300)) else { return false }
                        let messages = try await state.messages.messages(
                            of: "d\(index)", of: shop.id, after: 0, limit: 1)
                        if let message = messages.first { return message.body == Array("\(index)".utf8) }
                    }
                }
            }
            while bells.count < count { try await Task.sleep(for: .milliseconds(50)) }
            let peak = Self.memory
            for index in 0..<count {
                _ = try await state.messages.send(
                    NewDeviceMessage(kind: .custom, body: Array("\(index)".utf8)), to: "d\(index)", of: shop.id)
            }
            return (try await group.reduce(0) { $0 + ($1 ? 1 : 0) }, peak)
        }
        #expect(woken == count)
        #expect(bells.count == 0)
        #expect(peak - before < 256 << 20, "\((peak - before) >> 20) MB")
        bells.stop()
        await state.close()
    }
}
