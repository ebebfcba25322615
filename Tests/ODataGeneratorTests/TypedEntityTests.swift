import Foundation
import ODataModel
import ODataService
import ODataStore
import Testing

@Suite("Typed entities")
struct TypedEntityTests {
    private func harbour() async throws -> HarbourService {
        HarbourService(
            try await StoreService.open(ServiceDefinition(model: HarbourMetadata.model), at: .memory))
    }

    private static let id = "11111111-2222-3333-4444-555555555555"

    @Test("11.4.2 A created entity has the values of the service, and queries find it")
    func create() async throws {
        let harbour = try await harbour()
        let ship = try await harbour.ships.create(
            Ship {
                $0.name = "Fram"
                $0.length = 39
                $0.kind = .passenger
                $0.needs = [.water, .power]
                $0.isLaidUp = false
                $0.berth = Position {
                    $0.quay = "East"; $0.number = 4
                }
                $0.anchors = [Position { $0.number = 1 }]
                $0.draughts = [4.5, nil]
            })
        #expect(ship.shipID != nil)
        let found = try await harbour.ships.filter(\.length > 30 && \.berth.quay == "East").all()
        #expect(found.map(\.name) == ["Fram"])
        #expect(found.first?.kind == .passenger && found.first?.needs == .all)
        #expect(found.first?.berth?.number == 4 && found.first?.anchors?.first?.number == 1)
        #expect(found.first?.draughts == [4.5, nil])
        #expect(try await harbour.ships.filter(\.kind == .passenger).count() == 1)
        #expect(try await harbour.ships.key(ship.shipID ?? 0).get()?.name == "Fram")
        #expect(try await harbour.ships.key(99).get() == nil)
    }

    @Test("11.4.3 An update sends only the changed properties")
    func changes() async throws {
        let model = HarbourMetadata.model
        var stored = ODataEntity(shape: Ship.odataShape)
        stored["ShipID"] = 7
        stored["Name"] = "Fram"
        stored["Length"] = .decimal(39)
        stored.markUnchanged()
        stored.control.etag = "W/\"1\""
        let recorder = Recorder(
            model: model, [ODataResponse(body: .entity(stored)), ODataResponse(body: .entity(stored))])
        let harbour = HarbourService(recorder)
        var ship = try #require(try await harbour.ships.key(7).get())
        #expect(ship.changedProperties.isEmpty)
        #expect(try await harbour.ships.update(ship) == ship)
        #expect(recorder.requests.count == 1, "nothing changed, nothing is sent")
        ship.length = 40
        try await harbour.ships.update(ship)
        let request = try #require(recorder.requests.last)
        #expect(recorder.last == "PATCH Ships(7)")
        #expect(request.ifMatch == "W/\"1\"")
        guard case .entity(let body) = request.body else { throw DataServiceError.unexpectedAnswer(expected: "a body") }
        #expect(body.values.compactMap { $0 } == [.decimal(40)])
    }

    @Test("A property that is not loaded differs from null, and can be required")
    func notLoaded() throws {
        var ship = Ship()
        #expect(ship.name == nil && !ship.isLoaded(\.name))
        #expect(throws: EntityError.notLoaded(property: "Name", type: Ship.typeName)) { try ship.require(\.name) }
        ship.name = nil
        #expect(ship.isLoaded(\.name))
        ship.name = "Fram"
        #expect(try ship.require(\.name) == "Fram")
    }

    @Test("6.2 A set of a base type returns derived instances, which can be cast")
    func inheritance() async throws {
        let harbour = try await harbour()
        let ada = try #require(ODataGuid(Self.id))
        try await harbour.parties.cast(Person.self).create(
            Person {
                $0.id = ada; $0.name = "Ada"; $0.tags = ["pilot"]; $0[dynamic: "Shoes"] = .integer(39)
            })
        let parties = try await harbour.parties.all()
        let person = try #require(parties.first?.as(Person.self))
        #expect(parties.first?.as(Company.self) == nil)
        #expect(person.name == "Ada" && person.tags == ["pilot"])
        #expect(person[dynamic: "Shoes"] == .integer(39))
        #expect(person.as(Party.self)?.id == ada)
        #expect(label(of: person) == "Ada")
        #expect(try await harbour.parties.key(ada).get()?.name == "Ada")
    }

    /// Code for a base type also accepts its derived types.
    private func label(of party: some PartyProtocol) -> String { party.name ?? "nobody" }

    @Test("11.4.2.2 Related entities in a creation are created or bound with it")
    func deepInsert() async throws {
        let harbour = try await harbour()
        let owner = try #require(ODataGuid(Self.id))
        try await harbour.parties.cast(Company.self).create(
            Company {
                $0.id = owner; $0.name = "Line"; $0.tags = []
            })
        var ship = Ship {
            $0.name = "Fram"; $0.isLaidUp = false; $0.anchors = []
        }
        ship.calls = [
            Call {
                $0.year = 2026; $0.number = 1; $0.dues = 12.5
            }
        ]
        ship.bind(\.owner, to: harbour.parties.cast(Company.self).key(owner))
        let created = try await harbour.ships.create(ship)
        let read = try await harbour.ships.key(try created.require(\.shipID)).expand(\.calls).expand(\.owner).get()
        #expect(read?.calls?.map(\.dues) == [12.5])
        #expect(read?.owner?.name == "Line")
        #expect(try await harbour.ships.filter { $0.calls.any { $0.dues > 12 } }.count() == 1)
        // A person in the same set is not a company.
        let person = try #require(ODataGuid("99999999-2222-3333-4444-555555555555"))
        try await harbour.parties.cast(Person.self).create(
            Person {
                $0.id = person; $0.name = "Ada"; $0.tags = []
            })
        var other = Ship {
            $0.name = "Maud"; $0.isLaidUp = false; $0.anchors = []
        }
        other.odataEntity.related["Owner"] = .references(["Parties(\(person))"])
        await #expect(throws: ODataError.self) { try await harbour.ships.create(other) }
    }

    @Test("Properties are found by name, although the service's model has another order")
    func grownModel() async throws {
        let text = HarbourMetadata.text.replacing(
            #"<Key><PropertyRef Name="ShipID"/></Key>"#,
            with: #"<Key><PropertyRef Name="ShipID"/></Key><Property Name="Flag" Type="Edm.String"/>"#)
        let grown = try CSDLReader.read(Array(text.utf8))
        #expect(grown.shape(Ship.typeName)?.ordinal(of: "Name") != Ship.odataShape.ordinal(of: "Name"))
        let harbour = HarbourService(try await StoreService.open(ServiceDefinition(model: grown), at: .memory))
        let created = try await harbour.ships.create(
            Ship {
                $0.name = "Fram"; $0.isLaidUp = true; $0.anchors = []
            })
        #expect(created.name == "Fram" && created.isLaidUp == true)
        #expect(try await harbour.ships.filter(\.name == "Fram").count() == 1)
        let other = HarbourService(Recorder(model: try EntityDataModel(schemas: [])))
        await #expect(throws: DataServiceError.unknownType(Ship.typeName)) { try await other.ships.create(Ship()) }
    }

    @Test("Entities, typed and dynamic, are Codable: values, missing and changed properties, related entities")
    func coding() throws {
        var ship = Ship {
            $0.shipID = 7
            $0.name = "Fram"
            $0.length = 39.25
            $0.kind = .cargo
            $0.built = ODataDate(year: 1892, month: 10, day: 26)
            $0.draughts = [4.5, nil, .infinity]
            $0.berth = MarkedPosition {
                $0.quay = "East"; $0.colour = "red"
            }.as(Position.self)
            $0.calls = [
                Call {
                    $0.year = 2026; $0.dues = 1
                }
            ]
            $0.owner = Company { $0.name = "Line" }
        }
        ship.odataEntity.control.etag = "W/\"1\""
        ship.odataEntity.markUnchanged()
        ship.length = 40
        let data = try JSONEncoder().encode(ship)
        let again = try JSONDecoder().decode(Ship.self, from: data)
        #expect(again == ship)
        #expect(again.changedProperties == ["Length"] && again.odataETag == "W/\"1\"")
        #expect(!again.isLoaded(\.isLaidUp))
        #expect(again.berth?.as(MarkedPosition.self)?.colour == "red")
        #expect(again.calls?.first?.dues == 1 && again.owner?.name == "Line")

        let decoder = JSONDecoder()
        #expect(throws: DecodingError.self) { try decoder.decode(ODataEntity.self, from: data) }
        decoder.userInfo[.entityDataModel] = HarbourMetadata.model
        #expect(try decoder.decode(ODataEntity.self, from: data) == ship.odataEntity)
        #expect(throws: DecodingError.self) { try decoder.decode(Company.self, from: data) }
        var person = Person { $0.name = "Ada" }
        person[dynamic: "Weight"] = .decimal(61.5)
        person[dynamic: "Since"] = .date(try #require(ODataDate(year: 2020, month: 1, day: 2)))
        #expect(try decoder.decode(Person.self, from: JSONEncoder().encode(person)) == person)
        for text in [
            #"{"@odata.type":"Harbour.Ship","ShipID":"seven"}"#, #"{"@odata.type":"Harbour.Ship","Built":"yesterday"}"#,
            #"{"@odata.type":"Harbour.Tug"}"#, #"{"Calls":1}"#, "[]",
        ] {
            #expect(throws: DecodingError.self, "\(text)") { try decoder.decode(Ship.self, from: Data(text.utf8)) }
        }
    }

    @Test("Edited metadata in generated code are an error at the first use")
    func editedMetadata() async throws {
        let broken = GeneratedMetadata(HarbourMetadata.text.replacing("</EntityType>", with: "<EntityType>"))
        #expect(broken.model.container.entitySets.isEmpty)
        #expect(broken.shape(Ship.typeName).properties.isEmpty)
        #expect {
            try broken.check(Ship.typeName)
        } throws: { error in
            guard case DataServiceError.generatedMetadata(Ship.typeName, let reason) = error else { return false }
            return reason.contains("line")
        }
        let without = GeneratedMetadata(HarbourMetadata.text.replacing(#"Name="Photo""#, with: #"Name="Picture""#))
        #expect(throws: DataServiceError.self) { try without.check(Photo.typeName) }
        try GeneratedMetadata(HarbourMetadata.text).check(Ship.typeName)

        // A type with invalid metadata, in the form of generated code.
        struct Lost: TypedEntity {
            static let typeName = Ship.typeName
            static let odataMetadata = GeneratedMetadata("<edmx")
            static let odataShape = odataMetadata.shape(typeName)
            var odataEntity: ODataEntity
            init(odataEntity: ODataEntity) { self.odataEntity = odataEntity }
            struct Paths: TypedPaths {
                var odataPath: String
                init(odataPath: String) { self.odataPath = odataPath }
            }
        }
        let harbour = try await harbour()
        try await harbour.ships.create(
            Ship {
                $0.name = "Fram"; $0.isLaidUp = false; $0.anchors = []
            })
        let lost = TypedCollection<Lost>(harbour.odataService, set: "Ships")
        await #expect(throws: DataServiceError.self) { try await lost.all() }
        await #expect(throws: DataServiceError.self) { try await lost.first() }
        await #expect(throws: DataServiceError.self) { try await lost.key(EntityKey("ShipID", 1)).get() }
        await #expect(throws: DataServiceError.self) { for try await _ in lost.pages() {} }
        await #expect(throws: DataServiceError.self) { try await lost.create(Lost()) }
        #expect(throws: DataServiceError.self) { try JSONDecoder().decode(Lost.self, from: Data("{}".utf8)) }
        #expect(try await lost.count() == 1)
    }

    @Test("A number outside the enumeration reads as nil and stays unchanged")
    func unknownMember() {
        var ship = Ship()
        ship.odataEntity["Kind"] = .enumeration(77)
        #expect(ship.kind == nil)
        #expect(ship.odataEntity["Kind"] == .enumeration(77))
        #expect(ShipKind.freight == .cargo && ShipKind.allCases.count == 3)
    }
}
