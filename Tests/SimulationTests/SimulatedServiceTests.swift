import Foundation
import HTTPTypes
import ODataHTTP
import Testing

@testable import Simulation

@Suite("The records of a simulated service about its run")
struct SimulatedServiceTests {
    @Test("A repeated deletion that the service forgot is recognised as forgotten")
    func forgottenDeletion() async throws {
        let path = NSTemporaryDirectory() + "\(UUID()).db"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let time = VirtualTime()
        let service = try await SimulatedService(path: path, ability: ServiceAbility(), time: time)
        var request = HTTPRequest(
            method: .delete, scheme: "http", authority: "service.test", path: "/Tasks(4)",
            headerFields: [.ifMatch: "*", .repeatabilityRequestID: "2b8d05c0-5e5c-4e1e-9d4e-1a8d8e3b0d10"])
        request.headerFields[.repeatabilityFirstSent] = "Mon, 21 Sep 2026 14:13:20 GMT"
        let message = Message(request: request, body: []) { _ in }

        #expect(try await service.answer(message).response.status == 204)
        #expect(try await service.history().forgotten.isEmpty)
        time.pass(60 * 86_400)
        let answer = try await service.answer(message)
        #expect(answer.response.status == 412)
        #expect(answer.response.headerFields[.repeatabilityResult] == "rejected")
        let history = try await service.history()
        #expect(history.forgotten == ["deleted first T4"])
        #expect(history.refusals == ["deleted first T4"])
        try await service.close()
    }
}
