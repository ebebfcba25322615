import Foundation
import Secrets
import Testing

@testable import DataVault

@Suite("Several and killed processes", .serialized)
struct VaultProcessTests {
    @Test("kill -9 between count and check, a thousand times: every attempt is counted")
    func killed() async throws {
        let fixture = try VaultFixture()
        let kills = 1000
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setRetryLimit(kills)
        await vault.lock()
        for attempt in 1..<kills {
            // Half of the attempts have the right password, which is never checked.
            let result = try Probe.run("die", fixture.directory, "v", attempt % 2 == 0 ? "wrong" : "old password")
            guard result.reason == .uncaughtSignal, result.status == SIGKILL else {
                Issue.record("attempt \(attempt) ended as \(result)")
                return
            }
        }
        let file = try #require(try fixture.folder.file(of: "v"))
        #expect(try fixture.folder.record(file, "v").failures == UInt32(kills - 1))
        _ = try Probe.run("die", fixture.directory, "v", "old password")
        // All attempts are used up although none was checked. The next attempt destroys the vault.
        await #expect(throws: DataVaultError.destroyed(name: "v")) { try await vault.unlock(.old) }
        #expect(!fixture.folder.contains("v"))
    }

    @Test("Two processes that guess at once share the limit of attempts")
    func twoGuess() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setRetryLimit(40)
        await vault.lock()
        let guessers = try (0..<2).map { _ in try Probe.start(["guess", fixture.directory, "v", "wrong", "60"]) }
        var outcomes = ""
        for (process, output) in guessers {
            outcomes += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
        }
        #expect(outcomes.filter { $0 == "w" }.count == 39)
        #expect(outcomes.filter { $0 == "d" }.count == 1)
        #expect(outcomes.filter { $0 == "n" }.count >= 20)
        #expect(!outcomes.contains("o"))
        #expect(!fixture.folder.contains("v"))
    }

    @Test("Processes that write at the same time lose no changes")
    func twoWrite() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        let writers = try (0..<3).map { _ in
            try Probe.start(["count", fixture.directory, "v", "old password", "20"]).process
        }
        for process in writers {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(try await vault.items.count == 60)
    }

    @Test("A process that forbids dumps has no core file, and other processes cannot read its memory")
    func noDumps() throws {
        let fixture = try VaultFixture()
        #expect(try Probe.run("dumps", fixture.directory, "v", "").output == "true 0 0\n")
    }
}
