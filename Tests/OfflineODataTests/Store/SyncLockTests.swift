import Foundation
import OfflineOData
import Testing

@Suite("The lock file of a store")
struct SyncLockTests {
    private func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            guard case OfflineError.fileAccess(let path, let reason) = error else { return "\(error)" }
            return path.hasSuffix("/sync.lock") ? reason : "\(error)"
        }
    }

    @Test("A planted link destroys no file of the user")
    func plantedLinks() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let (lock, precious) = (store.directory + "/sync.lock", shop.directory.appendingPathComponent("precious").path)
        try Data("the only copy".utf8).write(to: URL(fileURLWithPath: precious))
        for isSoft in [true, false] {
            try FileManager.default.removeItem(atPath: lock)
            if isSoft {
                try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: precious)
            } else {
                try FileManager.default.linkItem(atPath: precious, toPath: lock)
            }
            let download = await refusal { try await store.download() }
            let upload = await refusal { try await store.upload() }
            for reason in [download, upload] {
                #expect(reason?.contains(isSoft ? "symbolic link" : "hard link") == true, "\(reason ?? "no refusal")")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: precious)) == Data("the only copy".utf8))
        }
        try FileManager.default.removeItem(atPath: lock)
        let dangling = shop.directory.appendingPathComponent("made").path
        try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: dangling)
        #expect(await refusal { try await store.download() } != nil)
        #expect(!FileManager.default.fileExists(atPath: dangling))
    }

    @Test("A lock file with other content stays as it is, and one with a process number is used")
    func otherContent() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let lock = URL(fileURLWithPath: store.directory + "/sync.lock")
        for content in ["the only copy", "123456789012\n", "12a\n", "\n\n"] {
            try Data(content.utf8).write(to: lock)
            let reason = await refusal { try await store.download() }
            #expect(reason?.contains("not a lock file") == true, "\(content): \(reason ?? "no refusal")")
            #expect(try Data(contentsOf: lock) == Data(content.utf8))
        }
        for content in ["", "4711\n", "4711", "12345678901\n"] {
            try Data(content.utf8).write(to: lock)
            try await store.download()
            #expect(try Data(contentsOf: lock) == Data("\(getpid())\n".utf8))
        }
    }

    @Test("A pipe instead of the lock file is refused at once", .timeLimit(.minutes(1)))
    func pipe() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try FileManager.default.removeItem(atPath: store.directory + "/sync.lock")
        #expect(mkfifo(store.directory + "/sync.lock", 0o600) == 0)
        #expect(await refusal { try await store.download() } == "it is not a regular file")
    }
}
