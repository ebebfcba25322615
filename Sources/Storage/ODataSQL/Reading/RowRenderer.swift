import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// A renderer of rows and their expanded rows, either as entities or as JSON.
protocol RowRenderer {
    /// The form of a row.
    associatedtype Item: Sendable

    /// Returns the item for the current row of a statement.
    func item(_ row: StoredRow, _ plan: ResultPlan) throws -> Item

    /// Returns the id of an item's entity; `nil` if there is none.
    func id(of item: Item) -> String?

    /// Returns the approximate memory of an item in bytes.
    func size(of item: Item) -> Int

    /// Attaches the value of an expanded navigation property to an item.
    func attach(_ related: RelatedItems<Item>, as expand: BoundExpand, to item: inout Item)
}

/// The value of an expanded navigation property.
enum RelatedItems<Item: Sendable>: Sendable {
    /// No entity, for a single-valued property.
    case none
    /// One row.
    case one(Item)
    /// Several rows, with their number if requested, and the link to the next page.
    case many([Item], count: Int64?, nextLink: String?)
    /// The number of rows only.
    case count(Int64)
}

/// A renderer of entities.
struct EntityRenderer: RowRenderer {
    let model: EntityDataModel
    /// Determines the types that must be stated.
    private let types: EntityPayloadWriter

    init(model: EntityDataModel) {
        self.model = model
        types = EntityPayloadWriter(model: model)
    }

    func item(_ row: StoredRow, _ plan: ResultPlan) throws -> ODataEntity {
        let direct = plan.notLoaded.map({ row.isNull($0) }) ?? true ? plan.direct : nil
        var control = try self.control(row, plan)
        // The common case.
        if let direct, plan.hasKeyInFields {
            return ODataEntity(shape: plan.shape, values: try values(direct, row, plan: plan), control: control)
        }
        var entity: ODataEntity
        if let direct {
            entity = ODataEntity(shape: plan.shape, values: try values(direct, row, plan: plan))
        } else {
            let (derived, fields) = row.variant(plan)
            entity = ODataEntity(shape: derived ?? plan.shape)
            for field in fields { try set(field, in: &entity, row: row, plan: plan) }
            if let (index, names) = plan.dynamic, let text = row.text(index) {
                try setDynamic(text, names, in: &entity, row: row, plan: plan)
            }
            control.type = derived?.name
        }
        // The key is always present, regardless of `$select`, because an entity cannot be changed without it.
        if !plan.hasKeyInFields, row.isEntity(plan) {
            for (part, (_, slot)) in zip(entity.shape.key, plan.key) {
                guard let ordinal = entity.shape.ordinal(of: part.path) else { continue }
                entity.values[ordinal] = try row.decode(slot, plan, model: model)
            }
        }
        control.annotations = entity.control.annotations
        entity.control = control
        entity.markUnchanged()
        return entity
    }

    /// Returns the control information of a row: its id and ETag.
    private func control(_ row: StoredRow, _ plan: ResultPlan) throws -> ControlInformation {
        let isEntity = row.isEntity(plan)
        var etag: String?
        if isEntity, case .column(let index) = plan.etag { etag = row.text(index) }
        if isEntity, case .numbered(let start, let column) = plan.id {
            return ControlInformation(idStart: start, number: row.integer(column), etag: etag)
        }
        return ControlInformation(id: try row.id(plan, model), etag: etag)
    }

    /// Returns the values of a row with all columns loaded.
    private func values(
        _ columns: [DirectColumn], _ row: StoredRow, plan: ResultPlan
    ) throws -> [ODataValue?] {
        let count = plan.shape.properties.count
        // Each element is initialized once in ascending order, and `filled` is always the number of initialized
        // elements, even if reading a value throws. The ordinals of the columns are ascending and refer to the
        // shape's properties.
        return try [ODataValue?](unsafeUninitializedCapacity: count) { buffer, filled in
            for column in columns {
                while filled < Int(column.ordinal) {
                    buffer.initializeElement(at: filled, to: nil)
                    filled += 1
                }
                let value = try value(column, row, plan: plan)
                buffer.initializeElement(at: filled, to: value)
                filled += 1
            }
            while filled < count {
                buffer.initializeElement(at: filled, to: nil)
                filled += 1
            }
        }
    }

    /// Returns the value of a loaded column.
    private func value(_ column: DirectColumn, _ row: StoredRow, plan: ResultPlan) throws -> ODataValue? {
        if let value = StoredColumn(row, Int(column.column)).value(column.kind) { return value }
        // The value has another storage class or is damaged.
        guard case .value(_, _, let slot) = plan.fields[Int(column.field)] else { return nil }
        return try row.decode(slot, plan, model: model)
    }

    private func set(
        _ field: ResultPlan.Field, in entity: inout ODataEntity, row: StoredRow, plan: ResultPlan
    ) throws {
        switch field {
        case .value(let name, let ordinal, let slot):
            guard row.isLoaded(slot, plan) else { return }
            let value = try row.decode(slot, plan, model: model)
            if let ordinal, ordinal < entity.values.count, entity.shape.properties[ordinal].name == name {
                entity.values[ordinal] = value
            } else {
                let name = slot.storage.name.hasSuffix("/\(name)") ? slot.storage.name : name
                entity[name] = value
                if slot.isDynamic, !value.isNull, let type = types.statedType(slot.storage.type) {
                    entity.control.annotations["\(name)@odata.type"] = .string(type)
                }
            }
        case .complex(let name, _, let shape, let presence, let fields):
            if let presence, row.isNull(presence) || row.integer(presence) == 0 {
                // Without a presence value, the complex value is null, unless none of its properties is loaded.
                guard fields.isEmpty || fields.contains(where: { isLoaded($0, row, plan: plan) }) else { return }
                entity[name] = .null
                return
            }
            var value = ODataEntity(shape: shape)
            for field in fields { try set(field, in: &value, row: row, plan: plan) }
            value.markUnchanged()
            entity[name] = .complex(value)
        case .link(let name, let set, let shape, let key):
            guard key.allSatisfy({ !row.isNull($0.slot.index) }) else {
                entity.related[name] = RelatedEntities.none
                return
            }
            entity.related[name] = .references([try row.id(set, shape, key: key, plan: plan, model: model)])
        case .related(let name, let shape, let presence, let fields):
            guard !row.isNull(presence) else {
                entity.related[name] = RelatedEntities.none
                return
            }
            let own = fields.lazy.compactMap { field -> TypeShape? in
                guard case .derived(let derived, let discriminator, _) = field,
                    row.text(discriminator) == derived.name.description
                else { return nil }
                return derived
            }.first
            var related = ODataEntity(shape: own ?? shape)
            related.control.type = own?.name
            for field in fields { try set(field, in: &related, row: row, plan: plan) }
            related.markUnchanged()
            entity.related[name] = .one(related)
        case .derived(let shape, _, let fields):
            guard entity.shape == shape else { return }
            for field in fields { try set(field, in: &entity, row: row, plan: plan) }
        case .dynamic(let index):
            if let text = row.text(index) { try setDynamic(text, nil, in: &entity, row: row, plan: plan) }
        case .nested(let name, let fields):
            // The result's shape names grouped paths as a whole, such as `Customer/Country`; the writers nest them.
            for field in fields { try set(field.named(within: name), in: &entity, row: row, plan: plan) }
        }
    }

    private func isLoaded(_ field: ResultPlan.Field, _ row: StoredRow, plan: ResultPlan) -> Bool {
        switch field {
        case .link, .dynamic: true
        case .value(_, _, let slot): row.isLoaded(slot, plan)
        case .complex(_, _, _, _, let fields), .nested(_, let fields), .related(_, _, _, let fields),
            .derived(_, _, let fields):
            fields.contains { isLoaded($0, row, plan: plan) }
        }
    }

    private func setDynamic(
        _ text: String, _ names: [String]?, in entity: inout ODataEntity, row: StoredRow, plan: ResultPlan
    ) throws {
        let value: ODataValue
        do {
            value = try StoredJSON.decode(text, as: .untyped("Edm.Untyped"), in: model)
        } catch {
            throw error.at(table: plan.table, column: "dynamic properties", row: row.name(plan))
        }
        guard case .complex(let object) = value else { return }
        for (name, value) in object.dynamicProperties where names?.contains(name) != false {
            entity.dynamicProperties[name] = value
        }
    }

    func id(of item: ODataEntity) -> String? { item.control.id }

    /// The constant part of an entity's size, which includes its control information.
    private static let entityOverhead = 128

    func size(of item: ODataEntity) -> Int {
        let stride = MemoryLayout<ODataValue?>.stride
        var size = Self.entityOverhead + item.values.count * stride
        for case let value? in item.values { size += Self.size(beyond: value) }
        for (name, value) in item.dynamicProperties { size += stride + name.utf8.count + Self.size(beyond: value) }
        return size
    }

    /// Returns the number of bytes that a value occupies outside of its array element.
    private static func size(beyond value: ODataValue) -> Int {
        switch value {
        case .string(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        case .collection(let members):
            members.reduce(0) { $0 + MemoryLayout<ODataValue>.stride + size(beyond: $1) }
        case .complex(let entity): entity.values.reduce(entityOverhead) { $0 + 16 + ($1.map(size(beyond:)) ?? 0) }
        default: 0
        }
    }

    func attach(_ related: RelatedItems<ODataEntity>, as expand: BoundExpand, to item: inout ODataEntity) {
        guard expand.isOf(item.shape.name, in: model) else { return }
        Self.attach(related, as: expand, at: expand.complexPath[...], to: &item)
    }

    private static func attach(
        _ related: RelatedItems<ODataEntity>, as expand: BoundExpand, at path: ArraySlice<String>,
        to item: inout ODataEntity
    ) {
        if let first = path.first {
            // A complex value that is null has no related entities.
            guard case .complex(var inner)? = item[first] else { return }
            attach(related, as: expand, at: path.dropFirst(), to: &inner)
            item[first] = .complex(inner)
            return
        }
        let name = expand.navigation.name
        switch related {
        case .none: item.related[name] = RelatedEntities.none
        case .one(let entity):
            item.related[name] =
                expand.form == .references ? .references([entity.control.id].compactMap { $0 }) : .one(entity)
        case .many(let entities, let count, let nextLink):
            item.related[name] =
                expand.form == .references
                ? .references(entities.compactMap(\.control.id)) : .many(entities, count: count, nextLink: nextLink)
        // Clients read a count without a collection in this form.
        case .count(let count): item.control.annotations["\(name)@odata.count"] = .integer(count)
        }
    }
}

extension ResultPlan.Field {
    /// Returns the field with the whole path as its name, for the properties of entities.
    fileprivate func named(within path: String) -> ResultPlan.Field {
        switch self {
        case .related(let name, let shape, let presence, let fields):
            .related(name: "\(path)/\(name)", shape, presence: presence, fields)
        case .nested(let name, let fields): .nested(name: "\(path)/\(name)", fields)
        default: self
        }
    }
}

extension BoundExpand {
    /// Returns whether entities of a type have the expanded property. After a cast in the path, only entities of
    /// the cast's type have it (OData URL Conventions 4.01, 5.1.3).
    func isOf(_ type: QualifiedName, in model: EntityDataModel) -> Bool {
        guard case .cast(let shape)? = path.first else { return true }
        return model.isType(type, shape.name)
    }

    /// The complex properties on the path to the navigation property.
    var complexPath: [String] {
        path.compactMap { if case .property(let property, _, _) = $0 { property.name } else { nil } }
    }
}
