import GRDB
import ODataModel
import ODataQuery

/// The meaning of the columns in a compiled statement, from which rows are converted to entities or JSON.
public struct ResultPlan: Sendable {
    /// A column of the statement with a value.
    public struct Slot: Sendable {
        /// The index of the column in the statement.
        public var index: Int
        /// The codec and type of the column; the name is for error messages.
        public var storage: ColumnStorage
        /// The bit in ``TableStorage/notLoaded`` for this column; `nil` if the column is always loaded.
        public var notLoadedBit: Int?
        /// Whether the property is computed or aggregated, and not declared in the metadata.
        public var isDynamic = false
    }

    /// A property of the result.
    public indirect enum Field: Sendable {
        /// A value in a column.
        case value(name: String, ordinal: Int?, Slot)
        /// A complex value with its shape, its presence column, and its properties.
        case complex(name: String, ordinal: Int?, TypeShape, presence: Int?, [Field])
        /// A grouped path, as an object with its properties.
        case nested(name: String, [Field])
        /// A related row that `join` has named; the presence column is NULL if there is no row.
        case related(name: String, TypeShape, presence: Int, [Field])
        /// Additional properties of a related row if its discriminator names a derived type.
        case derived(TypeShape, discriminator: Int, [Field])
        /// The dynamic properties of a related row, as a JSON object in a column.
        case dynamic(Int)
        /// A row of a `$crossjoin` that is not expanded, as a link with the set and the key.
        case link(name: String, set: String, TypeShape, key: [(name: String, slot: Slot)])
    }

    /// The source of the ETag.
    public enum ETag: Sendable {
        /// Rows have no ETag.
        case none
        /// The column with the ETag as text.
        case column(Int)
    }

    /// The forms of ids (OData URL Conventions 4.01, 4.3).
    public enum ID: Sendable {
        /// Rows have no id.
        case none
        /// The name of the singleton.
        case singleton
        /// The name of the set and the key in parentheses.
        case keyed
        /// The same form for a key with a single integer: the text before the number, and the column of the number.
        case numbered(String, column: Int)
        /// The id of the container, which may itself be contained, the name of the property, and the key unless the
        /// property is single-valued.
        case contained([Container], property: String, hasKey: Bool)

        /// Whether clients know the id from the path alone.
        var isInPath: Bool {
            switch self {
            case .none, .singleton, .contained(_, _, hasKey: false): true
            case .keyed, .numbered, .contained: false
            }
        }
    }

    /// An entity that contains the rows or another container.
    public struct Container: Sendable {
        /// The entity set, the singleton, or the name of the containment navigation property.
        public var segment: String
        /// The type of the entity.
        public var shape: TypeShape
        /// The columns of the entity's key by name in key predicates; empty for a single-valued property.
        public var key: [(name: String, slot: Slot)]
    }

    /// The set of the rows; `nil` for aggregated rows.
    public var set: String?
    /// The table, for error messages.
    public var table: String
    /// The shape of the rows.
    public var shape: TypeShape
    /// The properties of a row of the declared type.
    public var fields: [Field]
    /// The properties of rows of derived types, by the text in ``discriminator``.
    public var derivedFields: [String: (shape: TypeShape, fields: [Field])]
    /// The column with the type of a row.
    public var discriminator: Int?
    /// The column with the index in ``variants``, if rows have different properties.
    public var variant: Int?
    /// The variants of rows: whether they are entities, and their properties in addition to those of an entity.
    public var variants: [(isEntity: Bool, fields: [Field])] = []
    /// The column with the bits of columns that are not loaded.
    public var notLoaded: Int?
    /// The column with the JSON object of dynamic properties, and the selected names; `nil` names mean all.
    public var dynamic: (index: Int, names: [String]?)?
    /// The columns of the key by name in key predicates; empty for rows without a key.
    public var key: [(name: String, slot: Slot)]
    /// The form of ids.
    public var id = ID.none
    /// Whether the fields include all parts of the key.
    public var hasKeyInFields: Bool
    /// The source of the ETag.
    public var etag: ETag
    /// The column of the row id.
    public var rowID: Int?
    /// The columns of the sort terms, in order.
    public var sort: [Int]
    /// The columns that join the related rows, for each item of `$expand`.
    public var expandSources: [[Int]]
    /// The fields in a form for direct copies of columns; `nil` if the fields do not allow it.
    var direct: [DirectColumn]?

    /// Returns whether a column of a row is loaded, according to the bits of ``TableStorage/notLoaded``.
    static func isLoaded(_ slot: Slot, _ bits: UnsafeRawBufferPointer?) -> Bool {
        guard let bits, let bit = slot.notLoadedBit, bit / 8 < bits.count else { return true }
        return bits[bit / 8] & (1 << UInt8(bit % 8)) == 0
    }
}

/// The distinct result columns of a statement.
struct SelectList {
    private(set) var items: [SQLFragment] = []
    /// The indices of the columns, as soon as there are so many that hashing is faster than a linear search.
    private var indices: [String: Int] = [:]
    private static let fewItems = 16

    init() { items.reserveCapacity(8) }

    /// Returns the index of a column, which is added if necessary.
    mutating func index(of fragment: SQLFragment) -> Int {
        // Fragments with the same text may have different bound values.
        if fragment.arguments.isEmpty, let known = known(fragment.sql) { return known }
        items.append(fragment)
        if items.count == Self.fewItems {
            for (index, item) in items.enumerated() { indices[item.sql] = index }
        } else if items.count > Self.fewItems {
            indices[fragment.sql] = items.count - 1
        }
        return items.count - 1
    }

    private func known(_ sql: String) -> Int? {
        if items.count >= Self.fewItems { return indices[sql] }
        // Most fragments differ in their length.
        let length = sql.utf8.count
        return items.indices.last { items[$0].sql.utf8.count == length && items[$0].sql == sql }
    }
}
