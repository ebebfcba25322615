import Foundation
import GRDB
import Secrets
import ServerState
import ServerStateConformance
import Testing

@Suite("The state of the mobile server in SQLite")
struct SQLiteStateTests {
    @Test(
        "Every promise holds in memory", arguments: ServerStateConformance.cases + ServerStateConformance.deviceServices
    )
    func memory(conformanceCase: ServerStateConformance.Case) async throws {
        try await conformanceCase.run { clock in
            let state = try SQLiteServerState.inMemory { clock.now }
            _ = try await state.migrate(dryRun: false)
            return state
        }
    }

    @Test(
        "Every promise holds in encrypted files",
        arguments: ServerStateConformance.cases + ServerStateConformance.deviceServices)
    func files(conformanceCase: ServerStateConformance.Case) async throws {
        let folder = try TestFolder()
        try await conformanceCase.run { clock in
            let state = try SQLiteServerState.open(folder: folder.path, keys: .generate()) { clock.now }
            _ = try await state.migrate(dryRun: false)
            return state
        }
    }

    @Test("The suite has at least forty promises with names of their own")
    func count() {
        #expect(ServerStateConformance.cases.count >= 40)
        #expect(Set(ServerStateConformance.cases.map(\.name)).count == ServerStateConformance.cases.count)
    }
}

/// A folder that goes with its test.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
