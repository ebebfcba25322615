import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Equality of values without an order (OData URL Conventions 4.01, 5.1.1.1.1).
///
/// Entities are equal if they are the same entity, and complex values if all their properties are equal. Geographic
/// values are equal if they have the same shape in the same reference system.
extension ExpressionCompiler {
    /// Returns whether values of a type are compared by their parts.
    static func isStructured(_ type: TypeReference) -> Bool {
        switch type {
        case .complex, .entity: true
        default: type.primitive?.geoFamily != nil
        }
    }

    /// Returns whether two values are equal; two nulls are equal. The result is never NULL.
    func areEqual(_ left: BoundExpression, _ right: BoundExpression) throws -> SQLFragment {
        if left.type.primitive?.geoFamily != nil || right.type.primitive?.geoFamily != nil {
            let (a, b) = (try value(left), try value(right))
            return """
                coalesce(outpost_geo_equal(\(family(of: a)), \(a.sql), \(family(of: b)), \(b.sql)), \
                \(a.sql) IS NULL AND \(b.sql) IS NULL)
                """
        }
        if case .path(let first) = left, case .path(let second) = right,
            case .entity(let a, _, let ofA) = try resolve(first), case .entity(let b, _, let ofB) = try resolve(second)
        {
            return try areSame((a, ofA), (b, ofB))
        }
        return try areEqual(structure(of: left), structure(of: right))
    }

    /// Returns the first argument of geo functions: 1 for geography, 0 for geometry.
    func family(of shape: Operand) -> SQLFragment { shape.type.primitive?.geoFamily == .geometry ? "0" : "1" }

    /// Returns whether two entities have the same key. The condition of a cast determines whether there is an
    /// entity at all.
    private func areSame(_ left: (SQLScope, SQLFragment?), _ right: (SQLScope, SQLFragment?)) throws -> SQLFragment {
        func keys(_ side: (scope: SQLScope, condition: SQLFragment?)) throws -> [Operand] {
            guard let table = side.scope.table, !table.keyColumns.isEmpty else {
                throw Self.unsupported("a comparison of entities without keys")
            }
            return table.keyColumns.map { column in
                var key = side.scope.column(column, isNullable: true)
                if let condition = side.condition {
                    key.sql = "CASE WHEN \(condition) THEN \(key.sql) END"
                    key.anyTextColumn = nil
                }
                return key
            }
        }
        let (a, b) = (try keys(left), try keys(right))
        guard a.count == b.count else { throw Self.unsupported("a comparison of entities with different keys") }
        return "(\(.conjunction(try zip(a, b).map { try compare(.equal, left: $0, right: $1, isCondition: false) })))"
    }

    // MARK: Complex values

    /// The location of a complex value.
    private enum Structure {
        case columns(TypeShape, [PropertyStorage], presence: SQLFragment, SQLScope)
        case json(SQLFragment, TypeShape)
        case constant(ODataEntity)
        case null
    }

    /// A part of a complex value.
    private enum Part {
        case value(Operand)
        case structure(Structure)
    }

    private func structure(of expression: BoundExpression) throws -> Structure {
        switch expression {
        case .constant(.null, _): return .null
        case .constant(.complex(let entity), _): return .constant(entity)
        case .path(let path):
            switch try resolve(path) {
            case .complex(let shape, let storages, let presence, let scope):
                return .columns(shape, storages, presence: presence, scope)
            case .scalar(let operand): if let shape = shape(of: operand.type) { return .json(operand.sql, shape) }
            default: break
            }
        default: break
        }
        throw Self.unsupported("a comparison of \(expression.type)")
    }

    private func shape(of type: TypeReference) -> TypeShape? {
        if case .complex(let name?) = type { mapping.model.shape(name) } else { nil }
    }

    private func areEqual(_ left: Structure, _ right: Structure) throws -> SQLFragment {
        let (isA, isB) = (Self.presence(left), Self.presence(right))
        var properties = Self.properties(left)
        properties += Self.properties(right).filter { next in !properties.contains { $0.name == next.name } }
        if case .null = left { properties = [] }
        if case .null = right { properties = [] }
        var conditions: [SQLFragment] = ["\(isA) = \(isB)"]
        let parts = try properties.map { property -> SQLFragment in
            switch (try part(property, of: left), try part(property, of: right)) {
            case (.value(let a), .value(let b)): return try compare(.equal, left: a, right: b, isCondition: false)
            case (.structure(let a), .structure(let b)): return try areEqual(a, b)
            case (.structure(let some), .value(let other)), (.value(let other), .structure(let some)):
                guard other.constant?.isNull == true else { throw Self.unsupported("a comparison of \(property.type)") }
                return "NOT \(Self.presence(some))"
            }
        }
        if !parts.isEmpty { conditions.append("\(isA) = 0 OR (\(.conjunction(parts)))") }
        return "(\(.conjunction(conditions)))"
    }

    private static func presence(_ value: Structure) -> SQLFragment {
        switch value {
        case .columns(_, _, let presence, _): "(coalesce(\(presence), 0) = 1)"
        case .json(let json, _): "(\(json) IS NOT NULL)"
        case .constant: "1"
        case .null: "0"
        }
    }

    private static func properties(_ value: Structure) -> [Property] {
        switch value {
        case .columns(let shape, _, _, _), .json(_, let shape): shape.properties
        case .constant(let entity): entity.shape.properties
        case .null: []
        }
    }

    /// Returns a property of a complex value; null if its type has no such property.
    private func part(_ property: Property, of value: Structure) throws -> Part {
        let name = property.name
        switch value {
        case .columns(let shape, let storages, _, let scope):
            guard let ordinal = shape.ordinal(of: name), ordinal < storages.count else { break }
            switch storages[ordinal] {
            case .column(let column): return .value(scope.column(column, isNullable: true))
            case .complex(let shape, let storages, let presence):
                return .structure(.columns(shape, storages, presence: scope.sql(presence), scope))
            case .absent: throw Self.unsupported("the property \(name)")
            }
        case .json(let json, let shape):
            guard let own = shape.property(name) else { break }
            let extracted: SQLFragment = "json_extract(\(json), \(bind: SQLFragment.jsonPath([name]).databaseValue))"
            if let inner = self.shape(of: own.type) { return .structure(.json(extracted, inner)) }
            return .value(try member(extracted, own.type, place: name))
        case .constant(let entity):
            let own = entity[name] ?? .null
            if case .complex(let inner) = own { return .structure(.constant(inner)) }
            if case .complex = property.type { return .structure(.null) }
            return .value(try .constant(own, property.type))
        case .null: break
        }
        return .value(try .constant(.null, property.type))
    }
}
