import ODataModel
import ODataService
import ObjectAPI
import OfflineOData
import Testing

@Suite("Log records")
struct LogRecordTests {
    /// Makes a change that the service refuses, and returns the ticket.
    private static func refused(_ service: DeskService, _ desk: DeskDatabase) async throws -> Ticket {
        try await desk.synchronize()
        var ticket = try #require(try await desk.tickets.orderBy(\.title).first())
        ticket.title = "Gate"
        ticket = try await desk.save(ticket)
        try await desk.submitPending(ticket)
        let report = try await desk.synchronize([.default])
        #expect(report.failures.count == 1)
        return try await desk.refresh(ticket)
    }

    @Test("of a refused change have both codes, are seen at the object, and go on both sides")
    func bothSides() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        service.refuse(ODataError(status: 403, code: "ORA-1", message: "Not unique."))
        let ticket = try await Self.refused(service, desk)
        let local = try #require(try await desk.logRecords.of(ticket).first)
        #expect(local.isLocal)
        #expect(local.code == 403)
        #expect(local.backEndCode == "ORA-1")
        #expect(local.component == "Ticket")
        #expect(local.entityKey == String(try #require(ticket.id)))
        #expect(try await desk.tickets.filter { $0.objectState(.hasLogRecords) }.all().map(\.id) == [ticket.id])

        try await desk.synchronize([.system])
        let records = try await desk.logRecords.of(ticket)
        // The service's own record takes the place of the local one.
        #expect(records.map(\.isLocal) == [false])
        #expect(records.first?.requestID == local.requestID)
        #expect(records.first?.message == "Not unique.")
        #expect(try await desk.logRecords.all().count == 1)

        service.refuse(nil)
        let record = try #require(records.first)
        try await desk.cancelPending(ticket)
        try await desk.logRecords.delete(record)
        #expect(try await desk.logRecords.of(ticket).isEmpty)
        try await desk.synchronize([.system])
        #expect(try await service.rows("LogRecords").isEmpty)
        #expect(try await desk.tickets.filter { $0.objectState(.hasLogRecords) }.count() == 0)
        try desk.close()
    }

    @Test("have no value of the change")
    func values() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        service.refuse(ODataError(status: 400, code: "X", message: "No."), writingRecords: false)
        let ticket = try await Self.refused(service, desk)
        let records = try await desk.logRecords.of(ticket)
        #expect(records.count == 1)
        #expect(!records.contains { "\($0)".contains("Gate") })
        try desk.close()
    }

    @Test("of the app reach the service after they are submitted")
    func ofTheApp() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        let ticket = try #require(try await desk.tickets.orderBy(\.title).first())
        try await desk.logRecords.add(ObjectLogRecord("Looks odd.", level: .warn, operation: "check"), for: ticket)
        #expect(try await desk.logRecords.of(ticket).map(\.message) == ["Looks odd."])
        try await desk.synchronize([.system])
        #expect(try await service.rows("LogRecords").isEmpty)
        try await desk.logRecords.submit()
        try await desk.synchronize([.system])
        let rows = try await service.rows("LogRecords")
        #expect(rows.map { $0["Message"] } == ["Looks odd."])
        #expect(rows.map { $0["Level"] } == ["WARN"])
        #expect(try await desk.logRecords.of(ticket).map(\.message) == ["Looks odd."])
        try desk.close()
    }

    @Test("that were never submitted are deleted without a word to the service")
    func withdrawn() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        try await desk.logRecords.add(ObjectLogRecord("A mistake."))
        let record = try #require(try await desk.logRecords.all().first)
        try await desk.logRecords.delete(record)
        #expect(try await desk.logRecords.all().isEmpty)
        #expect(try await !desk.hasPendingChanges())
        try desk.close()
    }

    @Test("stay on the device if the package has no set for them")
    func withoutSet() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        service.refuseAll()
        var customer = try #require(try await crm.customers.first())
        customer.city = "Rome"
        customer = try await crm.save(customer)
        try await crm.submitPending(customer)
        try await crm.synchronize()
        #expect(try await crm.logRecords.of(customer).map(\.code) == [400])
        try await crm.logRecords.add(ObjectLogRecord("Own."), for: customer)
        #expect(try await crm.logRecords.all { $0.level == .info }.map(\.message) == ["Own."])
        await #expect(throws: ObjectError.noLogService) { try await crm.logRecords.submit() }
        for record in try await crm.logRecords.all() { try await crm.logRecords.delete(record) }
        #expect(try await crm.logRecords.of(customer).isEmpty)
        try crm.close()
    }

    @Test("of a created object stay with it when the service gives its key")
    func keys() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        var ticket = try await desk.create(Ticket(title: "Tap", area: "North"))
        try await desk.submitPending(ticket)
        service.refuse(ODataError(status: 400, code: "X", message: "Later."), writingRecords: false)
        try await desk.synchronize([.default])
        service.refuse(nil)
        try await desk.submitPending(ticket)
        try await desk.synchronize([.default])
        ticket = try await desk.refresh(ticket)
        #expect(ticket.objectState.pendingChange == .none)
        #expect(try await desk.logRecords.of(ticket).map(\.message) == ["Later."])
        try desk.close()
    }

    @Test("are written by the logger from its threshold up, and messages below it are not made")
    func logger() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        #expect(desk.logger.level == .warn)
        desk.logger.error("one")
        desk.logger.debug("two")
        desk.logger.level = .debug
        desk.logger.debug("three")
        desk.logger.level = .off
        desk.logger.fatal("four")
        await desk.logger.flush()
        #expect(try await desk.logRecords.all().map(\.message).sorted() == ["one", "three"])
        #expect(Set(try await desk.logRecords.all().map(\.level)) == [.error, .debug])
        try await desk.logger.submitLogRecords()
        try await desk.synchronize([.system])
        #expect(try await service.rows("LogRecords").count == 2)
        try desk.close()
    }
}
