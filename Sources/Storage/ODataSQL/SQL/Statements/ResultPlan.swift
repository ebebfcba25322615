import GRDB
import ODataModel
import ODataQuery

/// What the columns of a compiled statement are: how a row becomes an entity or JSON.
public struct ResultPlan: Sendable {
    /// One column of the statement that holds a value.
    public struct Slot: Sendable {
        /// The column's index in the statement.
        public var index: Int
        /// Its codec and type; the name is for messages.
        public var storage: ColumnStorage
        /// The bit of ``TableStorage/notLoaded`` that tells whether it is loaded; `nil` when it always is.
        public var notLoadedBit: Int?
        /// Whether no metadata declare the property: it is computed or aggregated.
        public var isDynamic = false
    }

    /// One property of the result.
    public indirect enum Field: Sendable {
        /// A value in a column.
        case value(name: String, ordinal: Int?, Slot)
        /// A complex value: its shape, the column that tells whether it is there, its properties.
        case complex(name: String, ordinal: Int?, TypeShape, presence: Int?, [Field])
        /// A grouped path: an object of its properties under a name.
        case nested(name: String, [Field])
        /// A related row that `join` has put under a name; the column that is NULL where there is none.
        case related(name: String, TypeShape, presence: Int, [Field])
        /// Within a related row: what it has besides when the column with its type names a derived one.
        case derived(TypeShape, discriminator: Int, [Field])
        /// Within a related row: the members of the JSON object in a column, which no type declares.
        case dynamic(Int)
        /// A row of a `$crossjoin` that is not expanded: the set and the key of a link to it.
        case link(name: String, set: String, TypeShape, key: [(name: String, slot: Slot)])
    }

    /// The ETag's column.
    public enum ETag: Sendable {
        /// Rows have none.
        case none
        /// The column that holds it as text.
        case column(Int)
    }

    /// How the id of a row is made (OData URL Conventions 4.01, 4.3).
    public enum ID: Sendable {
        /// Rows have none.
        case none
        /// It is the name of the singleton.
        case singleton
        /// The set's name, and the key in parentheses.
        case keyed
        /// The same with a key of one number: the text before the number, and its column.
        case numbered(String, column: Int)
        /// The id of the container, which may be contained too, the name of the property, and the key unless it contains
        /// one entity alone.
        case contained([Container], property: String, hasKey: Bool)

        /// Whether clients can tell it from the path alone.
        var isInPath: Bool {
            switch self {
            case .none, .singleton, .contained(_, _, hasKey: false): true
            case .keyed, .numbered, .contained: false
            }
        }
    }

    /// An entity that contains the rows, or another entity that does.
    public struct Container: Sendable {
        /// The entity set or singleton, or the name of the containment navigation property that leads here.
        public var segment: String
        /// The entity's type.
        public var shape: TypeShape
        /// The columns of its key by the names that key predicates use; empty for what its container contains alone.
        public var key: [(name: String, slot: Slot)]
    }

    /// The set of the rows; `nil` for the rows of an aggregation.
    public var set: String?
    /// The table, for messages.
    public var table: String
    /// The shape of the rows.
    public var shape: TypeShape
    /// The properties of a row of the declared type.
    public var fields: [Field]
    /// The properties of rows of derived types, by the text in ``discriminator``.
    public var derivedFields: [String: (shape: TypeShape, fields: [Field])]
    /// The column that holds a row's type.
    public var discriminator: Int?
    /// The column that tells which of ``variants`` a row is, where rows are not all alike.
    public var variant: Int?
    /// The kinds of rows: whether they are entities, and their properties besides those of an entity.
    public var variants: [(isEntity: Bool, fields: [Field])] = []
    /// The column of the bits that tell what is not loaded.
    public var notLoaded: Int?
    /// The column with the JSON object of dynamic properties, and the names wanted; no names are all.
    public var dynamic: (index: Int, names: [String]?)?
    /// The key's columns by the names that key predicates use; empty for keyless rows.
    public var key: [(name: String, slot: Slot)]
    /// How ids are made.
    public var id = ID.none
    /// Whether all parts of the key are among the fields.
    public var hasKeyInFields: Bool
    /// The ETag.
    public var etag: ETag
    /// The row id.
    public var rowID: Int?
    /// The columns of the sort terms, in order.
    public var sort: [Int]
    /// For each item of `$expand`, the columns that join the related rows.
    public var expandSources: [[Int]]
    /// The fields once more, for rows that are copied column by column; `nil` where some need more than that.
    var direct: [DirectColumn]?

    /// Whether a row's column is loaded, by the bits of its ``TableStorage/notLoaded`` column.
    static func isLoaded(_ slot: Slot, _ bits: UnsafeRawBufferPointer?) -> Bool {
        guard let bits, let bit = slot.notLoadedBit, bit / 8 < bits.count else { return true }
        return bits[bit / 8] & (1 << UInt8(bit % 8)) == 0
    }
}

/// The result columns of a statement, each once.
struct SelectList {
    private(set) var items: [SQLFragment] = []
    /// The indices of the columns, once there are so many that looking at each takes longer than hashing one.
    private var indices: [String: Int] = [:]
    private static let fewItems = 16

    init() { items.reserveCapacity(8) }

    /// The index of a column, added when it is new.
    mutating func index(of fragment: SQLFragment) -> Int {
        // Two fragments with bound values may differ in them.
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
        // Most differ in their lengths already.
        let length = sql.utf8.count
        return items.indices.last { items[$0].sql.utf8.count == length && items[$0].sql == sql }
    }
}
