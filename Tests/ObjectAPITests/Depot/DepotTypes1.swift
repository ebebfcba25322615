// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// `Depot.Crane`, derives from `Depot.Tool`.
struct Crane: Creatable, Updatable, Deletable {
    typealias Package = Depot
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Depot", "Crane")
    static let objectType: ObjectType<Depot> = ObjectType(number: 2095567314, entitySet: "Tools")
    static let requiredAttributes: [String] = []
    static var odataMetadata: GeneratedMetadata { DepotMetadata.metadata }
    static let odataShape: TypeShape = DepotMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Depot.Crane` that is not in the database yet.
    init() {
        odataEntity = ODataEntity(shape: Self.odataShape)
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Name`, Edm.String.
    var name: String? {
        get { odataEntity.typedValue(1, "Name") }
        set { odataEntity.setTypedValue(1, "Name", newValue) }
    }

    /// `Load`, Edm.Int32.
    var load: Int32? {
        get { odataEntity.typedValue(2, "Load") }
        set { odataEntity.setTypedValue(2, "Load", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        var load: PropertyPath<Int32> { PropertyPath<Int32>(self, "Load") }
    }
}

extension ObjectSet where Element == Crane {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Crane? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Crane {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// `Depot.Paper`.
struct Paper: Creatable, Updatable, Deletable, MediaEntity {
    typealias Package = Depot
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Depot", "Paper")
    static let objectType: ObjectType<Depot> = ObjectType(number: 1067208237, entitySet: "Papers")
    static let requiredAttributes: [String] = []
    static var odataMetadata: GeneratedMetadata { DepotMetadata.metadata }
    static let odataShape: TypeShape = DepotMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Depot.Paper` that is not in the database yet.
    init() {
        odataEntity = ODataEntity(shape: Self.odataShape)
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Name`, Edm.String.
    var name: String? {
        get { odataEntity.typedValue(1, "Name") }
        set { odataEntity.setTypedValue(1, "Name", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
    }
}

extension ObjectSet where Element == Paper {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Paper? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Paper {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// `Depot.Parcel`.
struct Parcel: Updatable {
    typealias Package = Depot
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Depot", "Parcel")
    static let objectType: ObjectType<Depot> = ObjectType(number: 1855591540, entitySet: "Parcels")
    static let requiredAttributes: [String] = ["Title"]
    static var odataMetadata: GeneratedMetadata { DepotMetadata.metadata }
    static let odataShape: TypeShape = DepotMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Depot.Parcel` that is not in the database yet.
    init(title: String) {
        odataEntity = ODataEntity(shape: Self.odataShape)
        self.title = title
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Title`, Edm.String, not null, at most 40.
    var title: String {
        get { odataEntity.requiredValue(1, "Title", or: "") }
        set { odataEntity.setTypedValue(1, "Title", newValue) }
    }

    /// `Weight`, Edm.Decimal.
    var weight: ODataDecimal? {
        get { odataEntity.typedValue(2, "Weight") }
        set { odataEntity.setTypedValue(2, "Weight", newValue) }
    }

    /// `Shelf`, Edm.String, at most 10.
    var shelf: String? {
        get { odataEntity.typedValue(3, "Shelf") }
        set { odataEntity.setTypedValue(3, "Shelf", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var title: PropertyPath<String> { PropertyPath<String>(self, "Title") }
        var weight: PropertyPath<ODataDecimal> { PropertyPath<ODataDecimal>(self, "Weight") }
        var shelf: PropertyPath<String> { PropertyPath<String>(self, "Shelf") }
        var label: StreamPath { StreamPath(self, "Label") }
        var notes: LargeTextPath { LargeTextPath(self, "Notes") }
    }
}

extension PackageDatabase where Package == Depot {
    /// Creates an object of `Depot.Parcel` by `Depot.RegisterParcel`.
    ///
    /// Parameters that no attribute fills:
    /// - `promoCode`: `promoCode`, Edm.String, not null.
    @discardableResult
    func create(_ object: Parcel, promoCode: String) async throws -> Parcel {
        var arguments = OperationParameters()
        arguments.set("promoCode", promoCode)
        return try await create(object, by: QualifiedName("Depot", "RegisterParcel"), arguments)
    }

    /// Deletes an object of `Depot.Parcel` by `Depot.ScrapParcel`.
    ///
    /// Parameters that no attribute fills:
    /// - `reason`: `reason`, Edm.String.
    @discardableResult
    func delete(_ object: Parcel, reason: String? = nil) async throws -> Parcel {
        var arguments = OperationParameters()
        arguments.setOptional("reason", reason)
        return try await delete(object, by: QualifiedName("Depot", "ScrapParcel"), arguments)
    }
}

extension ObjectSet where Element == Parcel {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Parcel? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Parcel {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// `Depot.Tool`, abstract.
struct Tool: Updatable, Deletable {
    typealias Package = Depot
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Depot", "Tool")
    static let objectType: ObjectType<Depot> = ObjectType(number: 1842633819, entitySet: "Tools")
    static let requiredAttributes: [String] = []
    static var odataMetadata: GeneratedMetadata { DepotMetadata.metadata }
    static let odataShape: TypeShape = DepotMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Depot.Tool` that is not in the database yet.
    init() {
        odataEntity = ODataEntity(shape: Self.odataShape)
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Name`, Edm.String.
    var name: String? {
        get { odataEntity.typedValue(1, "Name") }
        set { odataEntity.setTypedValue(1, "Name", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
    }
}

extension ObjectSet where Element == Tool {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Tool? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Tool {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// `Depot.Truck`.
struct Truck: Creatable, Deletable {
    typealias Package = Depot
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Depot", "Truck")
    static let objectType: ObjectType<Depot> = ObjectType(number: 764283220, entitySet: "Trucks")
    static let requiredAttributes: [String] = ["Plate"]
    static var odataMetadata: GeneratedMetadata { DepotMetadata.metadata }
    static let odataShape: TypeShape = DepotMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Depot.Truck` that is not in the database yet.
    init(plate: String) {
        odataEntity = ODataEntity(shape: Self.odataShape)
        self.plate = plate
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Plate`, Edm.String, not null, at most 12.
    var plate: String {
        get { odataEntity.requiredValue(1, "Plate", or: "") }
        set { odataEntity.setTypedValue(1, "Plate", newValue) }
    }

    /// `Color`, Edm.String, at most 20.
    var color: String? {
        get { odataEntity.typedValue(2, "Color") }
        set { odataEntity.setTypedValue(2, "Color", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var plate: PropertyPath<String> { PropertyPath<String>(self, "Plate") }
        var color: PropertyPath<String> { PropertyPath<String>(self, "Color") }
    }
}

extension PackageDatabase where Package == Depot {
    /// Changes an object of `Depot.Truck` by `Depot.PaintTruck`.
    @discardableResult
    func paintTruck(_ object: Truck) async throws -> Truck {
        try await update(object, by: QualifiedName("Depot", "PaintTruck"))
    }

    /// Changes an object of `Depot.Truck` by `Depot.RetireTruck`.
    ///
    /// Parameters that no attribute fills:
    /// - `remark`: `remark`, Edm.String, not null.
    @discardableResult
    func retireTruck(_ object: Truck, remark: String) async throws -> Truck {
        var arguments = OperationParameters()
        arguments.set("remark", remark)
        return try await update(object, by: QualifiedName("Depot", "RetireTruck"), arguments)
    }
}

extension ObjectSet where Element == Truck {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Truck? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Truck {
        try await load(parts: [QueryArgument("ID", id)])
    }
}
