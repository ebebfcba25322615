import ODataModel

/// The storage of a model in a SQLite database: tables of entity sets, columns of properties, and joins of
/// navigation properties.
///
/// The SQL compiler knows a database only by its mapping. The layout of the offline store is one mapping; each
/// existing database that a provider serves has another.
public struct StorageMapping: Sendable {
    /// The model that is mapped.
    public let model: EntityDataModel
    /// The tables by entity set name.
    public let tables: [String: TableStorage]
    /// The ends of link tables, by table and column.
    package let linkEnds: [String: [String: LinkEnd]]
    /// The conditions that queries can call as functions without parameters, by function name. The binder must know
    /// the functions, too (``StoreProvider/Options/functions``).
    public var rowConditions: [String: RowCondition] = [:]
    /// The functions of the model that the connections have registered, by ``ScalarFunction/name(declared:)``.
    package var computedFunctions: Set<String> = []

    /// Creates a mapping.
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

/// The storage of a property.
public indirect enum PropertyStorage: Hashable, Sendable {
    /// A single column.
    case column(ColumnStorage)
    /// A complex value with one storage for each property of its shape. The presence column distinguishes null from
    /// a value with null properties only.
    case complex(TypeShape, [PropertyStorage], presence: String)
    /// No storage, because the layout does not support the type. Reading the property throws 501 with its name.
    case absent
}

/// A column and the encoding of its values.
public struct ColumnStorage: Hashable, Sendable {
    /// The column's name, unquoted.
    public var name: String
    /// The type of the values.
    public var type: TypeReference
    /// The encoding of the values.
    public var codec: ColumnCodec
    /// Whether the database generates the value if an insert omits it (row ids, defaults).
    public var isGenerated: Bool
    /// Whether the column can be *not loaded*, in layouts that distinguish this state from null.
    public var isOptionallyLoaded: Bool
    /// Whether texts in the column are known to compare by their bytes, for example because no collation is
    /// declared.
    ///
    /// Statements name the collation of other columns, so that SQLite sorts twice as much for groups.
    public var comparesBytes: Bool

    /// Creates a column.
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

/// The encoding of OData values in a column. Every codec keeps the exact value, and its stored order is the order
/// of the values unless stated otherwise.
public enum ColumnCodec: Hashable, Sendable {
    /// INTEGER, the number itself; also for enumerations.
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
    /// BLOB, order-preserving: the bytes of ``dateTime``, followed by the offset in minutes (2 bytes, biased by
    /// 840).
    case dateTimeOffset
    /// BLOB, order-preserving, with the bytes of ``dateTime``.
    case duration
    /// INTEGER, the number times 10^scale.
    case scaledDecimal(scale: Int)
    /// BLOB, order-preserving, see `DecimalKey`.
    case decimalBytes
    /// TEXT with JSON: collections, dynamic properties and geographic values. Not ordered.
    case json
    /// An existing column of numeric affinity: INTEGER, REAL or numeric TEXT, read as an exact decimal.
    case numericDecimal
    /// An existing column with `YYYY-MM-DD` text.
    case dateText
    /// An existing column with `hh:mm:ss` text.
    case timeText
    /// An existing column with date-time text in one format, interpreted as UTC.
    case dateTimeText(DateTimeTextForm)
    /// An existing column with an integer of seconds or milliseconds since 1970.
    case unixTime(unitsPerSecond: Int)
    /// An existing column with the text of a GUID.
    case guidText
    /// An existing column whose values of any storage class are read as strings. The affinity determines the
    /// storage of a text that is written.
    case anyText(ColumnAffinity)

    /// A format of date-time text in an existing column.
    public struct DateTimeTextForm: Hashable, Sendable {
        /// The separator of date and time: a space or `T`.
        public var separator: Character
        /// The number of fractional digits, 0 to 12.
        public var fractionDigits: Int
        /// The suffix after the time: empty, or `Z`.
        public var suffix: String

        /// Creates a format.
        public init(separator: Character, fractionDigits: Int, suffix: String) {
            self.separator = separator
            self.fractionDigits = fractionDigits
            self.suffix = suffix
        }
    }
}

/// The join of a navigation property.
public enum NavigationStorage: Hashable, Sendable {
    /// Rows of the target's table whose columns are equal to the paired columns of this row.
    case join(target: String, pairs: [ColumnPair])
    /// Rows of the target's table that a link table relates to this row by row ids.
    case link(target: String, table: String, sourceColumn: String, targetColumn: String)

    /// Two columns with equal values in related rows.
    public struct ColumnPair: Hashable, Sendable {
        /// The column of the source's table.
        public var source: String
        /// The column of the target's table.
        public var target: String
        /// The comparison of the values.
        package var comparison = Comparison.stored

        /// The ways to compare the values of two columns.
        package enum Comparison: Hashable, Sendable {
            /// The comparison of SQLite for the stored values.
            case stored
            /// A comparison of texts by their bytes, regardless of the target's collation.
            case bytes
            /// A comparison of the string forms of values of any storage class.
            case text
        }

        /// Creates a pair.
        public init(source: String, target: String) {
            self.source = source
            self.target = target
        }
    }

    /// The entity set of the target.
    public var target: String {
        switch self {
        case .join(let target, _), .link(let target, _, _, _): target
        }
    }
}

/// The source of a row's ETag.
public enum ETagStorage: Hashable, Sendable {
    /// A column with the ETag of the back end, including quotes.
    case column(String)
    /// A digest of the row's stored values, so that every change of the row changes the ETag.
    case contentDigest
    /// Rows have no ETag.
    case none
}
