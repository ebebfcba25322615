// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Harbour.MarkedPosition`, derives from `Harbour.Position`.
struct MarkedPosition: PositionProtocol {
    static let typeName: QualifiedName = QualifiedName("Harbour", "MarkedPosition")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Colour`, Edm.String.
    var colour: String? {
        get { odataEntity.typedValue(2, "Colour") }
        set { odataEntity.setTypedValue(2, "Colour", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: PositionPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var colour: PropertyPath<String> { PropertyPath<String>(self, "Colour") }
    }
}

extension ValueRequest where Value == MarkedPosition {
    /// `Harbour.Paint`.
    func paint() async throws -> MarkedPosition? {
        let odataCall = OperationCall(on: self, "Harbour.Paint", .function)
        return try await odataCall.value()
    }
}

/// Where something is. `Harbour.Position`.
struct Position: PositionProtocol {
    static let typeName: QualifiedName = QualifiedName("Harbour", "Position")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// The properties by name, for queries.
    struct Paths: PositionPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }
    }
}

/// `Harbour.Position` and its derived types.
protocol PositionProtocol: TypedComplex where Paths: PositionPaths {}

/// The paths of `Harbour.Position` and of its derived types.
protocol PositionPaths: TypedPaths {}

extension PositionProtocol {
    /// `Quay`, Edm.String.
    var quay: String? {
        get { odataEntity.typedValue(0, "Quay") }
        set { odataEntity.setTypedValue(0, "Quay", newValue) }
    }

    /// `Number`, Edm.Int32, not null.
    var number: Int32? {
        get { odataEntity.typedValue(1, "Number") }
        set { odataEntity.setTypedValue(1, "Number", newValue) }
    }
}

extension PositionPaths {
    var quay: PropertyPath<String> { PropertyPath<String>(self, "Quay") }
    var number: PropertyPath<Int32> { PropertyPath<Int32>(self, "Number") }
}

extension ValueRequest where Value: PositionProtocol {
    /// `Harbour.Clear`.
    func clear_(reasons: [String?]? = nil) async throws {
        var odataCall = OperationCall(on: self, "Harbour.Clear", .action)
        odataCall.setOptionalMembers("reasons", reasons)
        try await odataCall.run()
    }

    /// `Harbour.Distance`.
    func distance(to: Position) async throws -> Double? {
        var odataCall = OperationCall(on: self, "Harbour.Distance", .function)
        odataCall.set("to", to)
        return try await odataCall.value()
    }

    /// `Harbour.Distance`.
    func distance(to: Position, unit: HarbourUnit) async throws -> Double? {
        var odataCall = OperationCall(on: self, "Harbour.Distance", .function)
        odataCall.set("to", to)
        odataCall.set("unit", unit)
        return try await odataCall.value()
    }
}

extension ValueCollectionRequest where Member: PositionProtocol {
    /// `Harbour.Nearest`.
    func nearest(kinds: [ShipKind]) async throws -> Position? {
        var odataCall = OperationCall(on: self, "Harbour.Nearest", .function)
        odataCall.set("kinds", kinds)
        return try await odataCall.value()
    }
}

/// `Harbour.Call`.
struct Call: TypedEntity {
    static let typeName: QualifiedName = QualifiedName("Harbour", "Call")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Year`, Edm.Int32, not null.
    var year: Int32? {
        get { odataEntity.typedValue(0, "Year") }
        set { odataEntity.setTypedValue(0, "Year", newValue) }
    }

    /// `Number`, Edm.Int32, not null.
    var number: Int32? {
        get { odataEntity.typedValue(1, "Number") }
        set { odataEntity.setTypedValue(1, "Number", newValue) }
    }

    /// `Dues`, Edm.Decimal.
    var dues: ODataDecimal? {
        get { odataEntity.typedValue(2, "Dues") }
        set { odataEntity.setTypedValue(2, "Dues", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var year: PropertyPath<Int32> { PropertyPath<Int32>(self, "Year") }
        var number: PropertyPath<Int32> { PropertyPath<Int32>(self, "Number") }
        var dues: PropertyPath<ODataDecimal> { PropertyPath<ODataDecimal>(self, "Dues") }
    }
}

extension TypedCollection where Element == Call {
    /// The entity with a key.
    func key(year: Int32, number: Int32) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Year", value: year.odataValue), EntityKey.Part(name: "Number", value: number.odataValue)]))
    }
}

/// `Harbour.Company`, derives from `Harbour.Party`.
struct Company: PartyProtocol {
    static let typeName: QualifiedName = QualifiedName("Harbour", "Company")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `VATNumber`, Edm.String.
    var vatNumber: String? {
        get { odataEntity.typedValue(3, "VATNumber") }
        set { odataEntity.setTypedValue(3, "VATNumber", newValue) }
    }

    /// `Fleet`, if it was expanded.
    var fleet: [Ship]? {
        get { odataEntity.typedRelatedCollection("Fleet") }
        set { odataEntity.setTypedRelatedCollection("Fleet", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: PartyPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var vatNumber: PropertyPath<String> { PropertyPath<String>(self, "VATNumber") }
        var fleet: NavigationCollectionPath<Ship> { NavigationCollectionPath<Ship>(self, "Fleet") }
    }
}

/// `Harbour.Party`, abstract.
struct Party: PartyProtocol {
    static let typeName: QualifiedName = QualifiedName("Harbour", "Party")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// The properties by name, for queries.
    struct Paths: PartyPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }
    }
}

/// `Harbour.Party` and its derived types.
protocol PartyProtocol: TypedEntity where Paths: PartyPaths {}

/// The paths of `Harbour.Party` and of its derived types.
protocol PartyPaths: TypedPaths {}

extension PartyProtocol {
    /// `ID`, Edm.Guid, not null.
    var id: ODataGuid? {
        get { odataEntity.typedValue(0, "ID") }
        set { odataEntity.setTypedValue(0, "ID", newValue) }
    }

    /// Full name. `Name`, Edm.String, at most 80.
    var name: String? {
        get { odataEntity.typedValue(1, "Name") }
        set { odataEntity.setTypedValue(1, "Name", newValue) }
    }

    /// `Tags`, Collection(Edm.String), not null.
    var tags: [String]? {
        get { odataEntity.typedCollection(2, "Tags") }
        set { odataEntity.setTypedCollection(2, "Tags", newValue) }
    }
}

extension PartyPaths {
    var id: PropertyPath<ODataGuid> { PropertyPath<ODataGuid>(self, "ID") }
    var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
    var tags: CollectionPath<String> { CollectionPath<String>(self, "Tags") }
}

extension TypedCollection where Element: PartyProtocol {
    /// The entity with a key.
    func key(_ id: ODataGuid) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "ID", value: id.odataValue)]))
    }
}

extension EntityRequest where Element: PartyProtocol {
    /// `Harbour.Label`.
    func label() async throws -> String? {
        let odataCall = OperationCall(on: self, "Harbour.Label", .function)
        return try await odataCall.value()
    }
}

/// `Harbour.Person`, open, derives from `Harbour.Party`.
struct Person: PartyProtocol, OpenStructure {
    static let typeName: QualifiedName = QualifiedName("Harbour", "Person")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Born`, Edm.Date.
    var born: ODataDate? {
        get { odataEntity.typedValue(3, "Born") }
        set { odataEntity.setTypedValue(3, "Born", newValue) }
    }

    /// `Superior`, if it was expanded.
    var superior: Person? {
        get { odataEntity.typedRelated("Superior") }
        set { odataEntity.setTypedRelated("Superior", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: PartyPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var born: PropertyPath<ODataDate> { PropertyPath<ODataDate>(self, "Born") }
        var superior: NavigationEntityPath<Person> { NavigationEntityPath<Person>(self, "Superior") }
    }
}

/// `Harbour.Photo`.
struct Photo: TypedEntity, MediaEntity {
    static let typeName: QualifiedName = QualifiedName("Harbour", "Photo")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `ID`, Edm.Int32, not null.
    var id: Int32? {
        get { odataEntity.typedValue(0, "ID") }
        set { odataEntity.setTypedValue(0, "ID", newValue) }
    }

    /// `Taken`, Edm.DateTimeOffset.
    var taken: ODataDateTimeOffset? {
        get { odataEntity.typedValue(1, "Taken") }
        set { odataEntity.setTypedValue(1, "Taken", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int32> { PropertyPath<Int32>(self, "ID") }
        var taken: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "Taken") }
    }
}

extension TypedCollection where Element == Photo {
    /// The entity with a key.
    func key(_ id: Int32) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "ID", value: id.odataValue)]))
    }
}

/// A ship that calls at the harbour. `Harbour.Ship`.
///
/// Ships stay known when they have left.
/// Tugs are not ships.
struct Ship: TypedEntity {
    static let typeName: QualifiedName = QualifiedName("Harbour", "Ship")
    static var odataMetadata: GeneratedMetadata { HarbourMetadata.metadata }
    static let odataShape: TypeShape = HarbourMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `ShipID`, Edm.Int64, not null.
    var shipID: Int64? {
        get { odataEntity.typedValue(0, "ShipID") }
        set { odataEntity.setTypedValue(0, "ShipID", newValue) }
    }

    /// `Name`, Edm.String, not null.
    var name: String? {
        get { odataEntity.typedValue(1, "Name") }
        set { odataEntity.setTypedValue(1, "Name", newValue) }
    }

    /// `Length`, Harbour.Metres.
    var length: ODataDecimal? {
        get { odataEntity.typedValue(2, "Length") }
        set { odataEntity.setTypedValue(2, "Length", newValue) }
    }

    /// `Kind`, Harbour.ShipKind.
    var kind: ShipKind? {
        get { odataEntity.typedValue(3, "Kind") }
        set { odataEntity.setTypedValue(3, "Kind", newValue) }
    }

    /// `Needs`, Harbour.Services.
    var needs: Services? {
        get { odataEntity.typedValue(4, "Needs") }
        set { odataEntity.setTypedValue(4, "Needs", newValue) }
    }

    /// `Built`, Edm.Date.
    var built: ODataDate? {
        get { odataEntity.typedValue(5, "Built") }
        set { odataEntity.setTypedValue(5, "Built", newValue) }
    }

    /// `Arrived`, Edm.DateTimeOffset.
    var arrived: ODataDateTimeOffset? {
        get { odataEntity.typedValue(6, "Arrived") }
        set { odataEntity.setTypedValue(6, "Arrived", newValue) }
    }

    /// `Draughts`, Collection(Edm.Double).
    var draughts: [Double?]? {
        get { odataEntity.typedMembers(7, "Draughts") }
        set { odataEntity.setTypedMembers(7, "Draughts", newValue) }
    }

    /// `Berth`, Harbour.Position.
    var berth: Position? {
        get { odataEntity.typedValue(8, "Berth") }
        set { odataEntity.setTypedValue(8, "Berth", newValue) }
    }

    /// `Anchors`, Collection(Harbour.Position), not null.
    var anchors: [Position]? {
        get { odataEntity.typedCollection(9, "Anchors") }
        set { odataEntity.setTypedCollection(9, "Anchors", newValue) }
    }

    /// `IsLaidUp`, Edm.Boolean, not null.
    var isLaidUp: Bool? {
        get { odataEntity.typedValue(11, "IsLaidUp") }
        set { odataEntity.setTypedValue(11, "IsLaidUp", newValue) }
    }

    /// `OwnerID`, Edm.Guid.
    var ownerID: ODataGuid? {
        get { odataEntity.typedValue(12, "OwnerID") }
        set { odataEntity.setTypedValue(12, "OwnerID", newValue) }
    }

    /// `Owner`, if it was expanded.
    var owner: Company? {
        get { odataEntity.typedRelated("Owner") }
        set { odataEntity.setTypedRelated("Owner", newValue) }
    }

    /// `Calls`, if it was expanded; contained.
    var calls: [Call]? {
        get { odataEntity.typedRelatedCollection("Calls") }
        set { odataEntity.setTypedRelatedCollection("Calls", newValue) }
    }

    /// `Crew`, if it was expanded.
    var crew: [Person]? {
        get { odataEntity.typedRelatedCollection("Crew") }
        set { odataEntity.setTypedRelatedCollection("Crew", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var shipID: PropertyPath<Int64> { PropertyPath<Int64>(self, "ShipID") }
        var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        var length: PropertyPath<ODataDecimal> { PropertyPath<ODataDecimal>(self, "Length") }
        var kind: PropertyPath<ShipKind> { PropertyPath<ShipKind>(self, "Kind") }
        var needs: PropertyPath<Services> { PropertyPath<Services>(self, "Needs") }
        var built: PropertyPath<ODataDate> { PropertyPath<ODataDate>(self, "Built") }
        var arrived: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "Arrived") }
        var draughts: CollectionPath<Double> { CollectionPath<Double>(self, "Draughts") }
        var berth: ComplexPath<Position> { ComplexPath<Position>(self, "Berth") }
        var anchors: ComplexCollectionPath<Position> { ComplexCollectionPath<Position>(self, "Anchors") }
        var blueprint: StreamPath { StreamPath(self, "Blueprint") }
        var isLaidUp: PropertyPath<Bool> { PropertyPath<Bool>(self, "IsLaidUp") }
        var ownerID: PropertyPath<ODataGuid> { PropertyPath<ODataGuid>(self, "OwnerID") }
        var owner: NavigationEntityPath<Company> { NavigationEntityPath<Company>(self, "Owner") }
        var calls: NavigationCollectionPath<Call> { NavigationCollectionPath<Call>(self, "Calls") }
        var crew: NavigationCollectionPath<Person> { NavigationCollectionPath<Person>(self, "Crew") }
    }
}

extension TypedCollection where Element == Ship {
    /// The entity with a key.
    func key(_ shipID: Int64) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "ShipID", value: shipID.odataValue)]))
    }
}

extension EntityRequest where Element == Ship {
    /// Moves the ship to another berth. `Harbour.Move`.
    func move(to: Position, reason: String? = nil) async throws -> Ship? {
        var odataCall = OperationCall(on: self, "Harbour.Move", .action)
        odataCall.set("to", to)
        odataCall.setOptional("Reason", reason)
        return try await odataCall.entity()
    }

    /// `Harbour.Plan`.
    func plan() async throws -> (ByteStream, contentType: String)? {
        let odataCall = OperationCall(on: self, "Harbour.Plan", .function)
        return try await odataCall.stream()
    }

    /// `Harbour.Remarks`.
    func remarks() async throws -> [String?] {
        let odataCall = OperationCall(on: self, "Harbour.Remarks", .function)
        return try await odataCall.members()
    }

    /// `Harbour.Similar`.
    func similar(kind: ShipKind) -> TypedCollection<Ship> {
        var odataCall = OperationCall(on: self, "Harbour.Similar", .function)
        odataCall.set("kind", kind)
        return odataCall.collection()
    }
}

extension TypedCollection where Element == Ship {
    /// `Harbour.Close`.
    func close() async throws {
        let odataCall = OperationCall(on: self, "Harbour.Close", .action)
        try await odataCall.run()
    }

    /// `Harbour.Tow`.
    func tow() async throws -> [Ship] {
        let odataCall = OperationCall(on: self, "Harbour.Tow", .action)
        return try await odataCall.entities()
    }
}

/// `Harbour.Unit`.
enum HarbourUnit: Int64, TypedEnumeration, CaseIterable {
    /// `Metre`.
    case metre = 0

    /// `Cable`.
    case cable = 1

    static let typeName: QualifiedName = QualifiedName("Harbour", "Unit")
    static var odataModel: EntityDataModel { HarbourMetadata.model }
}

/// `Harbour.Services`, with values that combine members.
struct Services: TypedFlags {
    /// `Water`.
    static let water: Services = Services(rawValue: 1)

    /// `Power`.
    static let power: Services = Services(rawValue: 2)

    /// `All`.
    static let all: Services = Services(rawValue: 3)

    static let typeName: QualifiedName = QualifiedName("Harbour", "Services")
    static var odataModel: EntityDataModel { HarbourMetadata.model }
    var rawValue: Int64

    init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// `Harbour.ShipKind`.
enum ShipKind: Int64, TypedEnumeration, CaseIterable {
    /// Carries goods. `Cargo`.
    case cargo = 0

    /// `PASSENGER`.
    case passenger = 1

    /// `None`.
    case none_ = 9

    static let typeName: QualifiedName = QualifiedName("Harbour", "ShipKind")
    static var odataModel: EntityDataModel { HarbourMetadata.model }

    /// `Freight`.
    static var freight: ShipKind { .cargo }
}
