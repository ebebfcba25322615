// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Orchard.Place`.
struct Place: TypedComplex {
    static let typeName: QualifiedName = QualifiedName("Orchard", "Place")
    static var odataMetadata: GeneratedMetadata { OrchardMetadata.metadata }
    static let odataShape: TypeShape = OrchardMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Row`, Edm.Int16, not null.
    var row: Int16? {
        get { odataEntity.typedValue(0, "Row") }
        set { odataEntity.setTypedValue(0, "Row", newValue) }
    }

    /// `Slot`, Edm.Byte.
    var slot: UInt8? {
        get { odataEntity.typedValue(1, "Slot") }
        set { odataEntity.setTypedValue(1, "Slot", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var row: PropertyPath<Int16> { PropertyPath<Int16>(self, "Row") }
        var slot: PropertyPath<UInt8> { PropertyPath<UInt8>(self, "Slot") }
    }
}

/// `Orchard.Grove`.
struct Grove: TypedEntity {
    static let typeName: QualifiedName = QualifiedName("Orchard", "Grove")
    static var odataMetadata: GeneratedMetadata { OrchardMetadata.metadata }
    static let odataShape: TypeShape = OrchardMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Code`, Edm.String, not null.
    var code: String? {
        get { odataEntity.typedValue(0, "Code") }
        set { odataEntity.setTypedValue(0, "Code", newValue) }
    }

    /// `Title`, Edm.String.
    var title: String? {
        get { odataEntity.typedValue(1, "Title") }
        set { odataEntity.setTypedValue(1, "Title", newValue) }
    }

    /// `Trees`, if it was expanded.
    var trees: [Tree]? {
        get { odataEntity.typedRelatedCollection("Trees") }
        set { odataEntity.setTypedRelatedCollection("Trees", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var code: PropertyPath<String> { PropertyPath<String>(self, "Code") }
        var title: PropertyPath<String> { PropertyPath<String>(self, "Title") }
        var trees: NavigationCollectionPath<Tree> { NavigationCollectionPath<Tree>(self, "Trees") }
    }
}

extension TypedCollection where Element == Grove {
    /// The entity with a key.
    func key(_ code: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Code", value: code.odataValue)]))
    }
}

/// A tree of the orchard. `Orchard.Tree`.
struct Tree: TypedEntity {
    static let typeName: QualifiedName = QualifiedName("Orchard", "Tree")
    static var odataMetadata: GeneratedMetadata { OrchardMetadata.metadata }
    static let odataShape: TypeShape = OrchardMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `ID`, Edm.Int32, not null.
    var id: Int32? {
        get { odataEntity.typedValue(0, "ID") }
        set { odataEntity.setTypedValue(0, "ID", newValue) }
    }

    /// What people call it. `Name`, Edm.String, at most 40.
    var name: String? {
        get { odataEntity.typedValue(1, "Name") }
        set { odataEntity.setTypedValue(1, "Name", newValue) }
    }

    /// `Planted`, Edm.DateTime.
    var planted: ODataDateTime? {
        get { odataEntity.typedValue(2, "Planted") }
        set { odataEntity.setTypedValue(2, "Planted", newValue) }
    }

    /// `Seen`, Edm.DateTimeOffset.
    var seen: ODataDateTimeOffset? {
        get { odataEntity.typedValue(3, "Seen") }
        set { odataEntity.setTypedValue(3, "Seen", newValue) }
    }

    /// `WateredAt`, Edm.Time.
    var wateredAt: ODataDuration? {
        get { odataEntity.typedValue(4, "WateredAt") }
        set { odataEntity.setTypedValue(4, "WateredAt", newValue) }
    }

    /// `Height`, Edm.Decimal.
    var height: ODataDecimal? {
        get { odataEntity.typedValue(5, "Height") }
        set { odataEntity.setTypedValue(5, "Height", newValue) }
    }

    /// `Mass`, Edm.Double.
    var mass: Double? {
        get { odataEntity.typedValue(6, "Mass") }
        set { odataEntity.setTypedValue(6, "Mass", newValue) }
    }

    /// `Leaves`, Edm.Int64.
    var leaves: Int64? {
        get { odataEntity.typedValue(7, "Leaves") }
        set { odataEntity.setTypedValue(7, "Leaves", newValue) }
    }

    /// `IsOld`, Edm.Boolean, not null.
    var isOld: Bool? {
        get { odataEntity.typedValue(8, "IsOld") }
        set { odataEntity.setTypedValue(8, "IsOld", newValue) }
    }

    /// `Mark`, Edm.Guid.
    var mark: ODataGuid? {
        get { odataEntity.typedValue(9, "Mark") }
        set { odataEntity.setTypedValue(9, "Mark", newValue) }
    }

    /// `Ring`, Edm.Binary.
    var ring: [UInt8]? {
        get { odataEntity.typedValue(10, "Ring") }
        set { odataEntity.setTypedValue(10, "Ring", newValue) }
    }

    /// `Place`, Orchard.Place, not null.
    var place: Place? {
        get { odataEntity.typedValue(11, "Place") }
        set { odataEntity.setTypedValue(11, "Place", newValue) }
    }

    /// `GroveCode`, Edm.String.
    var groveCode: String? {
        get { odataEntity.typedValue(12, "GroveCode") }
        set { odataEntity.setTypedValue(12, "GroveCode", newValue) }
    }

    /// `Grove`, if it was expanded.
    var grove: Grove? {
        get { odataEntity.typedRelated("Grove") }
        set { odataEntity.setTypedRelated("Grove", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int32> { PropertyPath<Int32>(self, "ID") }
        var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        var planted: PropertyPath<ODataDateTime> { PropertyPath<ODataDateTime>(self, "Planted") }
        var seen: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "Seen") }
        var wateredAt: PropertyPath<ODataDuration> { PropertyPath<ODataDuration>(self, "WateredAt") }
        var height: PropertyPath<ODataDecimal> { PropertyPath<ODataDecimal>(self, "Height") }
        var mass: PropertyPath<Double> { PropertyPath<Double>(self, "Mass") }
        var leaves: PropertyPath<Int64> { PropertyPath<Int64>(self, "Leaves") }
        var isOld: PropertyPath<Bool> { PropertyPath<Bool>(self, "IsOld") }
        var mark: PropertyPath<ODataGuid> { PropertyPath<ODataGuid>(self, "Mark") }
        var ring: PropertyPath<[UInt8]> { PropertyPath<[UInt8]>(self, "Ring") }
        var place: ComplexPath<Place> { ComplexPath<Place>(self, "Place") }
        var groveCode: PropertyPath<String> { PropertyPath<String>(self, "GroveCode") }
        var grove: NavigationEntityPath<Grove> { NavigationEntityPath<Grove>(self, "Grove") }
    }
}

extension TypedCollection where Element == Tree {
    /// The entity with a key.
    func key(_ id: Int32) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "ID", value: id.odataValue)]))
    }
}
