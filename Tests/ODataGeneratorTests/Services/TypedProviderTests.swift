import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("The same generated types over a local store, a server and an offline store")
struct TypedProviderTests {
    private static let owner = "11111111-2222-3333-4444-555555555555"

    /// Creates three ships of one owner.
    private func fill(_ harbour: HarbourService, bindsLinks: Bool = false) async throws {
        let id = try #require(ODataGuid(Self.owner))
        try await harbour.parties.cast(Company.self).create(
            Company {
                $0.id = id; $0.name = "Line"; $0.tags = ["old"]; $0.vatNumber = "NO 1"
            })
        for (number, name) in ["Fram", "Gjøa", "Maud"].enumerated() {
            var ship = Ship {
                $0.name = name
                $0.length = ODataDecimal(Int64(20 + 10 * number))
                $0.kind = number == 0 ? .passenger : .cargo
                $0.needs = [.water, .power]
                $0.built = ODataDate(year: 1900 - number, month: 1, day: 2)
                $0.isLaidUp = false
                $0.berth = Position {
                    $0.quay = "East"; $0.number = Int32(number)
                }
                $0.anchors = [Position { $0.number = 1 }]
                $0.draughts = [4.5, nil]
            }
            // The owner is set by the foreign key, or by the link itself if the provider is a service.
            if number > 0 { ship.ownerID = id }
            if number == 2, bindsLinks {
                ship.ownerID = nil
                ship.bind(\.owner, to: harbour.parties.cast(Company.self).key(id))
            }
            try await harbour.ships.create(ship)
        }
    }

    @Test("11.2, 11.4.2 Typed queries find created entities", arguments: HarbourPlace.allCases)
    func reads(place: HarbourPlace) async throws {
        try await place.with { harbour, sync in
            try await fill(harbour, bindsLinks: place != .offlineStore)
            try await sync()
            let long = try await harbour.ships.filter(\.length > 20 && \.berth.quay == "East").orderBy(\.name).all()
            #expect(long.map(\.name) == ["Gjøa", "Maud"])
            let maud = try #require(long.last)
            #expect(maud.kind == .cargo && maud.needs == .all && maud.draughts == [4.5, nil])
            #expect(maud.built == ODataDate(year: 1898, month: 1, day: 2))
            #expect(maud.berth?.number == 2 && maud.anchors?.first?.number == 1)
            #expect(try await harbour.ships.filter(\.kind == .passenger).count() == 1)
            let owned = try await harbour.ships.filter(\.owner.name == "Line").expand(\.owner).orderBy(\.name).first()
            #expect(owned?.name == "Gjøa" && owned?.owner?.vatNumber == "NO 1")
            let fleet = try await harbour.parties.cast(Company.self)
                .expand(\.fleet) { $0.filter(\.length > 30).select(\.name) }.all()
            #expect(fleet.first?.fleet?.map(\.name) == ["Maud"])
            #expect(fleet.first?.fleet?.first?.isLoaded(\.length) == false)
            #expect(try await harbour.parties.first()?.as(Company.self)?.tags == ["old"])
            var names: [String] = []
            for try await ship in harbour.ships.orderBy(\.name, descending: true).rows() {
                names.append(ship.name ?? "")
            }
            #expect(names == ["Maud", "Gjøa", "Fram"])
        }
    }

    @Test("11.4.3 Changes are sent, and a change of an outdated entity is refused", arguments: HarbourPlace.allCases)
    func changes(place: HarbourPlace) async throws {
        try await place.with { harbour, sync in
            try await fill(harbour)
            try await sync()
            let old = try #require(try await harbour.ships.filter(\.name == "Fram").first())
            var ship = old
            ship.length = 40
            ship.berth?.quay = "West"
            let changed = try await harbour.ships.update(ship)
            #expect(changed.length == 40 && changed.berth?.quay == "West" && changed.kind == .passenger)
            try await sync()
            let key = try old.require(\.shipID)
            #expect(try await harbour.ships.key(key).get()?.length == 40)
            if place != .offlineStore {
                var late = old
                late.length = 41
                await #expect(throws: ConflictError.self) { try await harbour.ships.update(late) }
                try await harbour.ships.update(late, overwriting: true)
                #expect(try await harbour.ships.key(key).get()?.length == 41)
            }
            try await harbour.ships.delete(try #require(try await harbour.ships.key(key).get()))
            try await sync()
            #expect(try await harbour.ships.count() == 2)
            #expect(try await harbour.ships.key(key).get() == nil)
        }
    }

    @Test("11.2.4, 11.4.9 Single properties are read, set and cleared", arguments: HarbourPlace.allCases)
    func properties(place: HarbourPlace) async throws {
        try await place.with { harbour, sync in
            try await fill(harbour)
            try await sync()
            let fram = try #require(try await harbour.ships.filter(\.name == "Fram").first())
            let ship = harbour.ships.key(try fram.require(\.shipID))
            #expect(try await ship.name.get() == "Fram")
            #expect(try await ship.value(\.kind) == .passenger)
            #expect(try await ship.berth.quay.get() == "East")
            #expect(try await ship.berth.get()?.number == 0)
            #expect(try await ship.draughts.members() == [4.5, nil])
            #expect(try await ship.draughts.all() == [4.5])
            try await ship.length.set(44)
            try await ship.kind.set(.cargo)
            try await ship.berth.quay.set("West")
            try await ship.draughts.set([1, nil, 2])
            try await ship.built.clear()
            try await sync()
            let changed = try #require(try await ship.get())
            #expect(changed.length == 44 && changed.kind == .cargo && changed.berth?.quay == "West")
            #expect(changed.berth?.number == 0, "the rest of a complex value stays")
            #expect(changed.draughts == [1, nil, 2] && changed.built == nil)
            try await ship.berth.set(Position { $0.number = 9 })
            try await ship.anchors.set([Position { $0.number = 5 }])
            try await sync()
            #expect(try await ship.berth.get()?.quay == nil)
            #expect(try await ship.anchors.all().map(\.number) == [5])
        }
    }

    @Test(
        "11.5 Typed methods call operations of every kind",
        arguments: [HarbourPlace.localStore, .clientOfAServer])
    func operations(place: HarbourPlace) async throws {
        try await place.with { harbour, _ in
            try await fill(harbour)
            let fram = try #require(try await harbour.ships.filter(\.name == "Fram").first())
            let ship = harbour.ships.key(try fram.require(\.shipID))
            let to = Position {
                $0.quay = "North"; $0.number = 7
            }
            #expect(try await ship.move(to: to)?.berth?.quay == "North")
            #expect(try await ship.move(to: to, reason: "wind")?.berth?.quay == "wind")
            #expect(try await ship.get()?.berth?.number == 7)
            let similar = ship.similar(kind: .cargo).filter(\.length > 30)
            #expect(try await similar.all().map(\.name) == ["Maud"])
            #expect(try await similar.count() == 1)
            #expect(try await ship.remarks() == ["new", "fast"])
            let id = try #require(ODataGuid(Self.owner))
            #expect(try await harbour.parties.key(id).label() == "Party Line")
            #expect(try await harbour.freeBerths(minLength: 12.5).map(\.quay) == ["12.5"])
            #expect(try await harbour.oldest().get()?.name == "Maud")
            #expect(try await harbour.ships.tow().map(\.name).sorted { ($0 ?? "") < ($1 ?? "") } == ["Gjøa", "Maud"])
            try await harbour.ships.close()
            #expect(try await harbour.ships.count() == 0)
            try await harbour.ships.create(
                Ship {
                    $0.name = "Roald"; $0.isLaidUp = true; $0.anchors = []
                })
            try await harbour.reset()
            #expect(try await harbour.ships.count() == 0)
        }
    }

    @Test("An offline store calls functions at its service at once, and actions when it syncs")
    func offlineOperations() async throws {
        try await HarbourPlace.offlineStore.with { harbour, sync in
            try await harbour.ships.create(
                Ship {
                    $0.name = "Roald"; $0.isLaidUp = true; $0.anchors = []
                })
            try await sync()
            #expect(try await !harbour.freeBerths(minLength: 1).isEmpty)
            try await harbour.reset()
            #expect(try await harbour.ships.count() == 1)
            try await sync()
            #expect(try await harbour.ships.count() == 0)
        }
    }
}
