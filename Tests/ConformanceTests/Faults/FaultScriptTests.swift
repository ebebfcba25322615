import Foundation
import ODataService
import Testing

@testable import reference_service

@Suite("The fault script of the reference service")
struct FaultScriptTests {
    private static func script(_ text: String) throws -> FaultScript {
        try JSONDecoder().decode(FaultScript.self, from: Data(text.utf8))
    }

    private static func customer(_ name: String) -> [String: Any] { ["LastName": name, "Region": "West"] }

    /// Runs a test against the package `crm` with the faults of a script.
    private static func serve(_ text: String, _ body: (Site) async throws -> Void) async throws {
        let service = try await CrmDefinition.open()
        try await Site.serve(ReferenceService.handler(service, faults: script(text)), body)
        try await service.close()
    }

    @Test("refuses the change that it names, with a code of the back end")
    func refusal() async throws {
        try await Self.serve(
            """
            [{"change": 2, "status": 409, "code": "LOCK", "message": "The row is locked."}]
            """
        ) { (site: Site) async throws in
            #expect(try await site.send("POST", "Customers", json: Self.customer("Gray")).status == 201)
            let refused = try await site.send("POST", "Customers", json: Self.customer("Blue"))
            #expect(refused.status == 409)
            #expect(String(decoding: refused.bytes, as: UTF8.self).contains("LOCK"))
            #expect(try await site.send("POST", "Customers", json: Self.customer("Red")).status == 201)
            #expect(try await site.get("Customers?$filter=LastName eq 'Blue'").rows.isEmpty)
        }
    }

    @Test("loses an answer after the change was made, and answers late")
    func lostAnswer() async throws {
        try await Self.serve("[{\"change\": 1, \"losesAnswer\": true}, {\"change\": 2, \"delay\": 0.2}]") {
            (site: Site) async throws in
            await #expect(throws: (any Error).self) {
                _ = try await site.send("POST", "Customers", json: Self.customer("Gray"))
            }
            #expect(try await site.get("Customers?$filter=LastName eq 'Gray'").rows.count == 1)
            let start = ContinuousClock.now
            #expect(try await site.send("POST", "Customers", json: Self.customer("Blue")).status == 201)
            #expect(ContinuousClock.now - start >= .milliseconds(200))
        }
    }

    @Test("ends the subscription of an entity set")
    func subscription() async throws {
        try await Self.serve("[{\"change\": 1, \"endsSubscription\": \"Customers\"}]") { (site: Site) async throws in
            #expect(try await site.get("Customers").status == 200)
            #expect(try await site.send("POST", "Customers", json: Self.customer("Gray")).status == 201)
            let ended = try await site.get("Customers")
            #expect(ended.status == 403)
            #expect(String(decoding: ended.bytes, as: UTF8.self).contains("SubscriptionEnded"))
            #expect(try await site.get("SalesOrders").status == 200)
        }
    }

    @Test("is refused with the name of the file if it is no script")
    func invalid() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        for text in [
            "{}", "[{\"status\": 409}]", "[{\"change\": 0}]", "[{\"change\": 1, \"status\": 9}]", "[{\"change\": 1}",
        ] {
            try Data(text.utf8).write(to: file)
            do {
                _ = try FaultScript.read(file.path)
                Issue.record("\(text) was read.")
            } catch {
                #expect("\(error)".hasPrefix(file.path))
            }
        }
    }
}
