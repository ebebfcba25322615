import ODataModel

/// Where a model's data lies in a SQLite database: for each entity set its table, for each property its
/// columns, for each navigation property its join.
///
/// The SQL compiler works on a mapping and knows nothing else of a database. The offline store's own
/// layout is one mapping; each database of somebody else's that is served is another.
public struct StorageMapping: Sendable {
    /// The model that is mapped.
    public let model: EntityDataModel
    /// The tables by entity set name.
    public let tables: [String: TableStorage]
    /// What the columns of link tables hold, by table and column.
    package let linkEnds: [String: [String: LinkEnd]]
    /// What functions without parameters mean that queries call to ask of a row what no property of it tells, by the
    /// functions' names; the binder must know them too (``StoreProvider/Options/functions``).
    public var rowConditions: [String: RowCondition] = [:]
    /// The functions of the model that the connections can compute, by ``ScalarFunction/name(declared:)``.
    package var computedFunctions: Set<String> = []

    /// Makes a mapping.
    public init(model: EntityDataModel, tables: [TableStorage]) {
        self.model = model
        let known = tables.map { table in
            var table = table
            table.model = model
            table.knownKeyColumns = table.keyColumns
            let bits = Dictionary(
                table.columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
            table.columnBits = bits
            table.propertyBits = table.properties.map { storage in
                if case .column(let column) = storage { bits[column.name] } else { nil }
            }
            return (table.set, table)
        }
        self.tables = Dictionary(known, uniquingKeysWith: { first, _ in first })
        linkEnds = LinkEnd.all(of: tables)
    }
}

/// Where a property's value lies.
public indirect enum PropertyStorage: Hashable, Sendable {
    /// In one column.
    case column(ColumnStorage)
    /// A complex value flattened into columns, by ordinal of its shape; the presence column tells null from
    /// a value whose properties are all null.
    case complex(TypeShape, [PropertyStorage], presence: String)
    /// Nowhere: the layout cannot hold it. Reading it is 501 with the property's name.
    case absent
}

/// One column with the way values are written in it.
public struct ColumnStorage: Hashable, Sendable {
    /// The column's name, unquoted.
    public var name: String
    /// The type of the values.
    public var type: TypeReference
    /// How values are stored.
    public var codec: ColumnCodec
    /// Whether the database gives the value when an insert leaves it out (rowid keys, defaults).
    public var isGenerated: Bool
    /// For layouts where *not loaded* differs from null: whether this column can be not loaded.
    public var isOptionallyLoaded: Bool
    /// Whether text in the column is known to compare by its bytes, as where no collation is declared. Statements name
    /// the collation of others, which makes SQLite sort twice as much for groups.
    public var comparesBytes: Bool

    /// Makes a column.
    public init(
        name: String, type: TypeReference, codec: ColumnCodec, isGenerated: Bool = false,
        isOptionallyLoaded: Bool = false, comparesBytes: Bool = false
    ) {
        self.name = name
        self.type = type
        self.codec = codec
        self.isGenerated = isGenerated
        self.isOptionallyLoaded = isOptionallyLoaded
        self.comparesBytes = comparesBytes
    }
}

/// How OData values are written in a column. Every codec keeps the exact value, and its stored order is
/// the values' order, unless it says otherwise.
public enum ColumnCodec: Hashable, Sendable {
    /// INTEGER, the number itself; enumerations too.
    case integer
    /// INTEGER, 0 or 1.
    case boolean
    /// REAL; NaN, which SQLite cannot store, as the BLOB `nan`.
    case double
    /// REAL, read back as binary32; NaN as in ``double``.
    case single
    /// TEXT.
    case string
    /// BLOB.
    case binary
    /// BLOB of sixteen bytes in text order.
    case guid
    /// INTEGER, days since 1970-01-01.
    case date
    /// INTEGER, picoseconds since midnight.
    case timeOfDay
    /// BLOB, order-preserving: seconds (8 bytes, sign bit flipped, big-endian), picoseconds (8 bytes).
    case dateTime
    /// BLOB, order-preserving: as ``dateTime``, then the offset in minutes (2 bytes, biased by 840).
    case dateTimeOffset
    /// BLOB, order-preserving: as ``dateTime``.
    case duration
    /// INTEGER, the number times 10^scale.
    case scaledDecimal(scale: Int)
    /// BLOB, order-preserving, see `DecimalKey`.
    case decimalBytes
    /// TEXT holding JSON: collections, dynamic properties and geo values. Not ordered.
    case json
    /// A foreign column of numeric affinity: INTEGER, REAL or numeric TEXT, read as an exact decimal.
    case numericDecimal
    /// A foreign column with `YYYY-MM-DD` text.
    case dateText
    /// A foreign column with `hh:mm:ss` text.
    case timeText
    /// A foreign column with date-time text of one written form, taken as UTC.
    case dateTimeText(DateTimeTextForm)
    /// A foreign column with an integer of seconds or milliseconds since 1970.
    case unixTime(unitsPerSecond: Int)
    /// A foreign column with the text of a GUID.
    case guidText
    /// A foreign column whose values of any storage class are served as strings. The affinity tells what the column makes
    /// of a text that is written to it.
    case anyText(ColumnAffinity)

    /// A written form of date-time text in a foreign column.
    public struct DateTimeTextForm: Hashable, Sendable {
        /// Between date and time: a space or `T`.
        public var separator: Character
        /// Fractional digits, 0 to 12.
        public var fractionDigits: Int
        /// What follows the time: nothing, or `Z`.
        public var suffix: String

        /// Makes a form.
        public init(separator: Character, fractionDigits: Int, suffix: String) {
            self.separator = separator
            self.fractionDigits = fractionDigits
            self.suffix = suffix
        }
    }
}

/// How a navigation property is joined.
public enum NavigationStorage: Hashable, Sendable {
    /// Rows of the target's table whose columns equal this row's columns, pairwise.
    case join(target: String, pairs: [ColumnPair])
    /// Rows of the target's table linked through a table of row id pairs.
    case link(target: String, table: String, sourceColumn: String, targetColumn: String)

    /// Two columns that are equal where rows are related.
    public struct ColumnPair: Hashable, Sendable {
        /// The column of the source's table.
        public var source: String
        /// The column of the target's table.
        public var target: String
        /// How the two values are compared.
        package var comparison = Comparison.stored

        /// How the values of two columns are compared.
        package enum Comparison: Hashable, Sendable {
            /// As SQLite compares what is stored.
            case stored
            /// As texts by their bytes, whatever collation the target declares.
            case bytes
            /// As the texts that values of any storage class are served as.
            case text
        }

        /// Makes a pair.
        public init(source: String, target: String) {
            self.source = source
            self.target = target
        }
    }

    /// The entity set that it leads to.
    public var target: String {
        switch self {
        case .join(let target, _), .link(let target, _, _, _): target
        }
    }
}

/// Where the ETag of a row comes from.
public enum ETagStorage: Hashable, Sendable {
    /// A column holds the ETag as the back end gave it, quotes included.
    case column(String)
    /// A digest of the row's stored values: any change by anybody changes it.
    case contentDigest
    /// Rows have none.
    case none
}
