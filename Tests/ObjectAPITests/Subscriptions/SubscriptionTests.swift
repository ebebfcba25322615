import ODataModel
import ODataService
import ObjectAPI
import OfflineOData
import Testing

@Suite("Subscriptions of a package")
struct SubscriptionTests {
    private static func titles(_ desk: DeskDatabase) async throws -> [String] {
        try await desk.tickets.orderBy(\.title).all().map(\.title)
    }

    @Test("add up: rows of several tuples are stored once, and go with the last tuple that names them")
    func tuples() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.subscriptions.add(TicketSubscription())
        try await desk.subscriptions.add(TicketSubscription(area: "South"))
        try await desk.subscriptions.add(TicketSubscription(area: "North"))
        try await desk.synchronize()
        #expect(try await Self.titles(desk) == ["Door", "Lamp", "Roof"])
        #expect(try await desk.subscriptions.all(TicketSubscription.self).count == 3)
        #expect(try await desk.subscriptions.remove(TicketSubscription(area: "South")))
        #expect(try await Self.titles(desk) == ["Door", "Lamp"])
        #expect(try await desk.subscriptions.remove(TicketSubscription()))
        #expect(try await Self.titles(desk) == ["Door", "Lamp"])
        #expect(try await !desk.subscriptions.remove(TicketSubscription(area: "South")))
        try desk.close()
    }

    @Test("are listed with the arguments that they were added with, also after a restart")
    func listing() async throws {
        let service = try await DeskService()
        var desk = try await service.database()
        let day = try #require(ODataDate("2021-01-31"))
        try await desk.subscriptions.add(PartSubscription(kind: 2, since: day))
        try await desk.subscriptions.add(PartSubscription(kind: 3))
        try await desk.subscriptions.add(TicketSubscription(area: "a&b 'c' 100%"))
        try desk.close()
        desk = try await service.database()
        let parts = try await desk.subscriptions.all(PartSubscription.self)
        #expect(
            parts.map(\.arguments) == [
                PartSubscription(kind: 2, since: day).arguments, PartSubscription(kind: 3).arguments,
            ])
        let tickets = try await desk.subscriptions.all(TicketSubscription.self)
        #expect(tickets.map(\.arguments) == [TicketSubscription(area: "a&b 'c' 100%").arguments])
        #expect(tickets.map(\.group) == ["default"])
        try await desk.synchronize()
        #expect(try await desk.parts.all().map(\.kind).sorted { ($0 ?? 0) < ($1 ?? 0) } == [2, 3])
        #expect(try await Self.titles(desk).isEmpty)
        let listed = try #require(tickets.first)
        #expect(try await desk.subscriptions.remove(listed))
        try desk.close()
    }

    @Test("keep a row with a change until the service has accepted it")
    func changedRows() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.subscriptions.add(TicketSubscription(area: "South"))
        try await desk.subscriptions.add(TicketSubscription(area: "West"))
        try await desk.synchronize()
        var roof = try #require(try await desk.tickets.filter(\.title == "Roof").first())
        roof.title = "Dome"
        roof = try await desk.save(roof)
        try await desk.subscriptions.remove(TicketSubscription(area: "South"))
        #expect(try await Self.titles(desk) == ["Dome", "Wall"])
        try await desk.submitPending(roof)
        #expect(try await desk.synchronize().accepted == 1)
        #expect(try await service.rows("Tickets?$filter=Title eq 'Dome'").count == 1)
        try desk.close()
    }

    @Test("need a value for an argument without a key and a default")
    func missing() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        struct Incomplete: SubscriptionParameters {
            typealias Package = Desk
            static let entitySet = "Parts"
            let arguments: [SubscriptionArgument] = []
        }
        await #expect(throws: ObjectError.missingArgument(name: "kind", of: "Parts")) {
            try await desk.subscriptions.add(Incomplete())
        }
        struct Unknown: SubscriptionParameters {
            typealias Package = Desk
            static let entitySet = "Parts"
            let arguments = [SubscriptionArgument("color", "red")]
        }
        await #expect(throws: ObjectError.noSuchParameter(name: "color", of: "Parts")) {
            try await desk.subscriptions.add(Unknown())
        }
        #expect(try await desk.synchronize().unsubscribedSets.contains("Parts"))
        try desk.close()
    }
}
