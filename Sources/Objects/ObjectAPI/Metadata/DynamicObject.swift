import ODataModel
import OfflineOData

/// An object of a type that is known by name alone. It is a snapshot, as generated objects are.
///
/// ```swift
/// var customer = try await crm.objects(named: "Customer").load(key: ["ID": 32])
/// try customer.set("City", to: "Dublin")
/// customer = try await crm.save(customer)
/// print(try customer["City"])
/// ```
public struct DynamicObject: Sendable {
    /// The attributes, the state and the expanded relations.
    public internal(set) var entity: ODataEntity
    private let model: EntityDataModel

    init(_ entity: ODataEntity, _ model: EntityDataModel) {
        self.entity = entity
        self.model = model
    }

    /// Creates a dynamic object from a generated one.
    public init<Object: BusinessObject>(_ object: Object) {
        self.init(object.odataEntity, Object.odataModel)
    }

    /// The type.
    public var typeName: QualifiedName { entity.shape.name }

    /// The state of the object's changes when the value was read, and of the value itself.
    public var objectState: ObjectState { ObjectState(entity) }

    /// The value of an attribute.
    ///
    /// - Throws: ``ObjectError/noSuchAttribute(name:of:)``; ``ObjectError/attributeMissing(type:attribute:)`` if the
    ///   attribute was not read, as large attributes never are.
    public subscript(attribute: String) -> ODataValue {
        get throws(ObjectError) {
            guard entity.shape.property(attribute) != nil || entity.shape.isOpen else {
                throw .noSuchAttribute(name: attribute, of: typeName.description)
            }
            guard let value = entity[attribute] else { throw .attributeMissing(type: typeName, attribute: attribute) }
            return value
        }
    }

    /// Sets an attribute.
    ///
    /// - Throws: ``ObjectError/noSuchAttribute(name:of:)``; ``ObjectError/invalidType(name:expected:)`` for a value of
    ///   another type, for null if the attribute must not be null, and for a large attribute.
    public mutating func set(_ attribute: String, to value: ODataValue) throws(ObjectError) {
        guard let property = entity.shape.property(attribute) else {
            guard entity.shape.isOpen else { throw .noSuchAttribute(name: attribute, of: typeName.description) }
            entity[attribute] = value
            return
        }
        let expected = property.type.description
        guard property.type != .primitive(.stream) else { throw .invalidType(name: attribute, expected: expected) }
        do throws(InvalidValueError) {
            try ValueValidator(model: model, checks: [.types, .nullability]).validate(value, for: property)
        } catch {
            throw .invalidType(name: attribute, expected: expected)
        }
        entity[attribute] = value
    }

    /// Returns the related objects, if the relation was expanded.
    ///
    /// - Returns: `nil` if the relation was not expanded.
    /// - Throws: ``ObjectError/noSuchAttribute(name:of:)``.
    public func related(_ relation: String) throws(ObjectError) -> [DynamicObject]? {
        guard entity.shape.navigationProperty(relation) != nil else {
            throw .noSuchAttribute(name: relation, of: typeName.description)
        }
        return switch entity.related[relation] {
        case .many(let entities, _, _)?: entities.map { DynamicObject($0, model) }
        case .one(let entity)?: [DynamicObject(entity, model)]
        case .some(.none): []
        case .references?, nil: nil
        }
    }

    /// The row in the store.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    func requiredRow() throws(ObjectError) -> RowReference {
        guard let row = entity.replayState?.row else { throw .notSaved(type: typeName) }
        return row
    }

    /// The object with the values of a row.
    func with(_ entity: ODataEntity) -> DynamicObject { DynamicObject(entity, model) }
}
