import ErrorCodes
import ODataModel
import ODataService
import OfflineOData
import Testing

@testable import ObjectAPI

@Suite("The recovery of refused changes")
struct ReplayRecoveryTests {
    struct Row: Sendable {
        let code: Int
        let recovery: ReplayFailure.Recovery
    }

    static let table: [Row] = [
        Row(code: 409, recovery: .retry), Row(code: 503, recovery: .retry), Row(code: 401, recovery: .signIn),
        Row(code: 403, recovery: .repair), Row(code: 404, recovery: .repair), Row(code: 405, recovery: .repair),
        Row(code: 412, recovery: .repair), Row(code: 500, recovery: .repair),
        // Codes that the predecessor did not know.
        Row(code: 429, recovery: .retry), Row(code: 502, recovery: .retry), Row(code: 504, recovery: .retry),
        Row(code: 423, recovery: .retry), Row(code: 418, recovery: .repair), Row(code: 599, recovery: .repair),
    ]

    @Test("follows the table of logical codes, and needs a repair for any other code", arguments: table)
    func recovery(_ row: Row) {
        #expect(ReplayFailure.recovery(row.code, retriesSignIn: false) == row.recovery)
        let other = row.code == 401 ? .retry : row.recovery
        #expect(ReplayFailure.recovery(row.code, retriesSignIn: true) == other)
    }

    @Test("of refused credentials follows the switch of the profile", arguments: [true, false])
    func credentials(asks: Bool) async throws {
        let service = try await DeskService()
        let desk = try await service.database { $0.asksForCredentials = asks }
        try await desk.synchronize()
        let ticket = try await desk.create(Ticket(title: "Tap", area: "North"))
        try await desk.submitPending(ticket)
        service.refuse(ODataError(status: 401, code: "LOGON", message: "Sign in."))
        do {
            let report = try await desk.synchronize()
            #expect(report.failures.map(\.recovery) == [asks ? .signIn : .retry])
        } catch {
            // The upload ends with refused credentials, since no further change could pass.
            #expect(PredecessorError(error) == PredecessorError(ODataError(status: 401, code: "", message: "")))
        }
        #expect(try await desk.refresh(ticket).objectState.pendingChange == .create)
        try desk.close()
    }

    @Test("is known for a change that expired, which has the code 500")
    func expired() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        let ticket = try await desk.create(Ticket(title: "Tap", area: "North"))
        try await desk.submitPending(ticket)
        var options = desk.store.options
        options.sync.localChangeExpiry = .seconds(-1)
        try desk.store.setOptions(options)
        let failure = try #require(try await desk.synchronize().failures.first)
        #expect(failure.code == 500)
        #expect(failure.backEndCode == "Expired")
        #expect(failure.recovery == .repair)
        try desk.close()
    }

    @Test("has the class and the number of the predecessor")
    func predecessor() {
        let refused = PredecessorError(ODataError(status: 403, code: "", message: ""))
        #expect(refused.className == "SUPSynchronizeException")
        #expect(refused.number == 403)
        #expect(PredecessorError(OfflineError.notConnected).number == PredecessorError.unreachable)
        #expect(PredecessorError(ObjectError.synchronizationDisabled).className == "SUPSynchronizeException")
        #expect(PredecessorError(ObjectError.notSaved(type: Ticket.typeName)).className == "SUPObjectNotSavedException")
        #expect(PredecessorError(CancellationError()).number == nil)
    }
}
