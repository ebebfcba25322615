import ODataModel
import ODataService
import OfflineOData

/// A type of a package. Its values are snapshots of rows, implemented by generated code.
///
/// ```swift
/// var customer = Customer(lastName: "Lovelace", region: "North")
/// customer.city = "London"
/// customer = try await crm.create(customer)
/// print(customer.objectState.pendingChange)                                  // create
/// ```
public protocol BusinessObject: TypedEntity where InitialValues == RequiredInitialValues {
    /// The package.
    associatedtype Package: ObjectPackage
    /// The number and the entity set.
    static var objectType: ObjectType<Package> { get }
    /// The attributes that every row has, since they must not be null.
    static var requiredAttributes: [String] { get }
}

/// A type of objects that can be created: every parameter of the creation is an attribute.
public protocol Creatable: BusinessObject {}

/// A type of objects that can be changed.
public protocol Updatable: BusinessObject {}

/// A type of objects that can be deleted.
public protocol Deletable: BusinessObject {}

/// A type of objects that can be saved: a new object is created, another one is changed.
public typealias Savable = Creatable & Updatable

extension BusinessObject {
    /// Reads a row.
    ///
    /// - Throws: ``ObjectError/attributeMissing(type:attribute:)`` if the row lacks an attribute that must not be null;
    ///   `DataServiceError` if the generated metadata were edited.
    public init(row: borrowing some PropertyReader) throws {
        try Self.odataMetadata.check(Self.typeName)
        self.init(odataEntity: try Self.checked(try row.entity(as: Self.odataShape)))
    }

    /// Reads rows.
    ///
    /// - Throws: as ``init(row:)``.
    public static func odataInstances(of entities: consuming [ODataEntity]) throws -> [Self] {
        if !entities.isEmpty { try odataMetadata.check(typeName) }
        return try entities.map { Self(odataEntity: try checked($0)) }
    }

    /// Checks that a row has every attribute that must not be null.
    static func checked(_ entity: ODataEntity) throws(ObjectError) -> ODataEntity {
        for name in requiredAttributes {
            guard let value = entity[name], !value.isNull else {
                throw .attributeMissing(type: typeName, attribute: name)
            }
        }
        return entity
    }

    /// The state of the object's changes when the value was read, and of the value itself.
    public var objectState: ObjectState { ObjectState(odataEntity) }

    /// The row in the store; `nil` for an object that was never saved.
    var row: RowReference? { odataEntity.replayState?.row }

    /// The row in the store.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    func requiredRow() throws(ObjectError) -> RowReference {
        guard let row else { throw .notSaved(type: Self.typeName) }
        return row
    }
}
