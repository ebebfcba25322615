import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// The identity of an object without its attributes.
public struct ObjectReference: Hashable, Sendable, CustomStringConvertible {
    /// The type.
    public var type: QualifiedName
    /// The entity set.
    public var entitySet: String
    /// The identity on this device; `nil` for an object that was never saved.
    public var surrogateKey: SurrogateKey?
    /// The object by its key, such as `Customers(32)`; the set alone if the key is not known.
    public var description: String
    /// The row in the store.
    let row: RowReference?

    /// Creates a reference to an object.
    public init<Object: BusinessObject>(_ object: Object) {
        type = Object.typeName
        entitySet = Object.objectType.entitySet
        row = object.row
        surrogateKey = row.map { SurrogateKey(rawValue: $0.rowID) }
        description = object.odataEntity.control.id ?? entitySet
    }

    /// Creates a reference to an object of a type that is known by name alone.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    init(_ object: DynamicObject) throws(ObjectError) {
        let row = try object.requiredRow()
        type = object.typeName
        entitySet = row.set
        self.row = row
        surrogateKey = SurrogateKey(rawValue: row.rowID)
        description = object.entity.control.id ?? row.set
    }

    /// Creates a reference to the entity of a queued request.
    init(_ request: QueuedRequest) {
        type = request.changes.shape.name
        entitySet = request.entitySet
        row = nil
        surrogateKey = request.rowID > 0 ? SurrogateKey(rawValue: request.rowID) : nil
        description = request.entityText
    }
}
