import Foundation
import GRDB
import ODataModel
import ODataQuery

/// The SQL functions that compiled queries call, all named `outpost_…`.
///
/// Register them on every connection that runs queries:
///
/// ```swift
/// configuration.prepareDatabase { StoreFunctions.register(in: $0) }
/// ```
///
/// Arguments and results are in the stored form of the codecs: decimals as ``DecimalKey``, instants and durations
/// as order-preserving bytes. A function returns NULL if an argument is NULL.
public enum StoreFunctions {
    /// Adds all functions to a connection. Adding them again has no effect.
    public static func register(in database: Database) {
        for function in all { database.add(function: function) }
        // The digest is the ETag of a row, or a digest of digests if a table has more columns than a function has
        // arguments.
        RowDigest.register(in: database.sqliteConnection)
        for (name, count, make) in Sums.all {
            Accumulator.register(name, count, in: database.sqliteConnection, make: make)
        }
    }

    /// Adds the registered functions of an app or a service to a connection.
    public static func register(_ functions: FunctionRegistry, in database: Database) {
        AppFunctions.register(functions, in: database)
    }

    /// Returns the message with which SQLite reports an error of a function; `nil` for other errors.
    static func message(of error: any Error) -> String? {
        switch error {
        case let error as FunctionError: error.message
        case let error as EvaluationError: FunctionError.mark + error.description
        default: nil
        }
    }

    private static let all: [DatabaseFunction] =
        text + DecimalFunctions.all + NumberFunctions.all + DateFunctions.all + conversions + SearchFunctions.all
        + CollectionFunctions.all + DynamicFunctions.all + AnyTextFunctions.all
        + [
            // An argument with the family precedes each geo value: 1 for geography.
            function("geo_equal", 4) { try geo($0, 0) == geo($0, 2) },
            function("geo_length", 2) { try shape($0, 0).length },
            function("geo_distance", 4) { try shape($0, 0).distance(to: shape($0, 2)) },
            function("geo_intersects", 4) { try shape($0, 0).intersects(shape($0, 2)) },
            // The first column of a list that is not loaded; both are in the form of `TableStorage.notLoaded`.
            function("missing", 2) {
                for (index, (stored, wanted)) in zip(try $0.bytes(0), try $0.bytes(1)).enumerated()
                where stored & wanted != 0 {
                    return 8 * index + (stored & wanted).trailingZeroBitCount
                }
                return nil
            },
            function("depth", 2) {
                let depth = try $0.integer(0)
                guard depth <= (try $0.integer(1)) else { throw FunctionError.depth }
                return depth
            },
        ]

    private static func shape(_ arguments: [DatabaseValue], _ index: Int) throws -> GeoShape {
        GeoShape(try geo(arguments, index))
    }

    private static func geo(_ arguments: [DatabaseValue], _ index: Int) throws -> GeoValue {
        let family: GeoValue.Family = try arguments.integer(index) == 1 ? .geography : .geometry
        guard let value = try? GeoValue(geoJSON: arguments.text(index + 1), family: family) else {
            throw FunctionError.argument("a geo value")
        }
        return value
    }

    private static let text: [DatabaseFunction] = [
        function("lower", 1) { TextOperations.lowered(try $0.text(0)) },
        function("upper", 1) { TextOperations.uppered(try $0.text(0)) },
        function("trim", 1) { TextOperations.trimmed(try $0.text(0)) },
        function("length", 1) { TextOperations.length(try $0.text(0)) },
        function("indexof", 2) { TextOperations.index(of: try $0.text(1), in: try $0.text(0)) },
        function("endswith", 2) { TextOperations.hasSuffix(try $0.text(0), try $0.text(1)) },
        function("substring", 2) { TextOperations.substring(try $0.text(0), from: try $0.integer(1), length: nil) },
        function("substring", 3) {
            TextOperations.substring(try $0.text(0), from: try $0.integer(1), length: try $0.integer(2))
        },
        function("replace", 3) {
            try TextOperations.replacing(try $0.text(1), with: try $0.text(2), in: try $0.text(0))
        },
        function("concat", 2) { try TextOperations.concatenated(try $0.text(0), try $0.text(1)) },
        function("matches", 2) { try PatternMatching.matches(try $0.text(0), pattern: try $0.text(1)) },
    ]

    /// Conversions from forms of existing databases to the canonical forms; the last argument is the column for
    /// error messages.
    private static let conversions: [DatabaseFunction] = [
        conversion("date_of_text", .dateText, type: .date, to: .date),
        conversion("time_of_text", .timeText, type: .timeOfDay, to: .timeOfDay),
        conversion("guid_of_text", .guidText, type: .guid, to: .guid),
        conversion("decimal_of_number", .numericDecimal, type: .decimal, to: .decimalBytes),
        function("decimal_of_scaled", 2) {
            let number = try $0.integer(0)
            let value = ODataDecimal(
                isNegative: number < 0, magnitude: UInt128(number.magnitude), scale: Int(try $0.integer(1)))
            return value.map { Data(DecimalKey.encode($0)) }
        },
        // The text of a JSON member or of an existing database may have any ISO 8601 format.
        function("instant_of_text", 2) {
            guard let value = instant(try $0.text(0)) else { throw failure("a date and time", $0) }
            return Data(InstantKey.encode(value))
        },
        function("local_of_text", 2) {
            guard let value = local(try $0.text(0)) else { throw failure("a date and time", $0) }
            return Data(InstantKey.encode(seconds: value.seconds, picoseconds: value.picoseconds))
        },
        function("duration_of_text", 2) {
            guard let value = ODataDuration(try $0.text(0)) else { throw failure("a duration", $0) }
            return Data(InstantKey.encode(seconds: value.seconds, picoseconds: value.picoseconds))
        },
        // A cast of text to the type in the second argument; NULL if the text does not match the type.
        function("text_as", 2) {
            guard let type = PrimitiveType(rawValue: try $0.text(1)),
                let value = try? ODataValue(lexical: $0.text(0), type: type)
            else { return nil }
            return try Operand.canonicalCodec(.primitive(type)).encode(value)
        },
        // Casts between text and an enumeration, whose members are in the form of `EnumType.written`.
        function("enum_of_text", 2) { EnumType(written: try $0.text(1)).value(of: try $0.text(0)) },
        function("enum_text", 2) { EnumType(written: try $0.text(1)).text(of: try $0.integer(0)) },
        function("double_of_json", 1) {
            guard case .string(let text) = $0[0].storage else { return $0[0] }
            return switch text {
            case "INF": Double.infinity.databaseValue
            case "-INF": (-Double.infinity).databaseValue
            default: ColumnCodec.real(.nan)
            }
        },
        function("text_of_binary", 1) { Base64URL.encode(try $0.bytes(0)) },
        function("binary_of_text", 1) { Base64URL.decode(try $0.text(0)).map { Data($0) } },
        function("instant_of_unix", 3) {
            let value = try unix($0, as: .primitive(.dateTimeOffset))
            return try ColumnCodec.dateTimeOffset.encode(value)
        },
        function("local_of_unix", 3) {
            let value = try unix($0, as: .primitive(.dateTime))
            return try ColumnCodec.dateTime.encode(value)
        },
    ]

    /// Returns the instant of a text. Without an offset, the time zone is UTC.
    static func instant(_ text: String) -> ODataDateTimeOffset? {
        let hasNoOffset = !text.hasSuffix("Z") && ODataDateTime(text.replacing(" ", with: "T")) != nil
        return ODataDateTimeOffset(hasNoOffset ? text + "Z" : text)
    }

    /// Returns the date and time of a text.
    static func local(_ text: String) -> ODataDateTime? {
        ODataDateTime(text.hasSuffix("Z") ? String(text.dropLast()) : text)
    }

    private static func unix(_ arguments: [DatabaseValue], as type: TypeReference) throws -> ODataValue {
        let units = Int(try arguments.integer(1))
        do {
            return try ColumnCodec.unixTime(unitsPerSecond: units).decode(arguments[0], as: type, in: nil)
        } catch {
            throw failure("a number of 1/\(units) seconds since 1970", arguments)
        }
    }

    private static func conversion(
        _ name: String, _ foreign: ColumnCodec, type: PrimitiveType, to canonical: ColumnCodec
    ) -> DatabaseFunction {
        function(name, 2) { arguments in
            do {
                return try canonical.encode(foreign.decode(arguments[0], as: .primitive(type), in: nil))
            } catch {
                throw failure(foreign.expectation, arguments)
            }
        }
    }

    /// Returns the error for a stored value that cannot be parsed; the last argument is its column.
    private static func failure(_ expected: String, _ arguments: [DatabaseValue]) -> any Error {
        let place = arguments.last.flatMap { String.fromDatabaseValue($0) } ?? ""
        return FunctionError.stored(
            StoredValueError(column: place, found: ColumnCodec.describe(arguments[0]), expected: expected))
    }

    /// Returns a function with a fixed number of arguments that is NULL if one of them is NULL.
    static func function(
        _ name: String, _ count: Int,
        body: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
    ) -> DatabaseFunction {
        DatabaseFunction("outpost_\(name)", argumentCount: count, pure: true) { arguments in
            if arguments.contains(where: \.isNull) { return nil }
            do {
                return try body(arguments)
            } catch {
                guard let message = message(of: error) else { throw error }
                throw DatabaseError(resultCode: .SQLITE_ERROR, message: message)
            }
        }
    }
}

extension EnumType {
    /// The members, and whether they are flags, as text for a function.
    var written: String {
        "\(isFlags ? 1 : 0)" + members.map { ",\($0.name)=\($0.value)" }.joined()
    }

    /// Creates the type that a text of ``written`` describes, without its name.
    init(written: String) {
        let parts = written.split(separator: ",")
        self.init(
            name: QualifiedName("", ""), isFlags: parts.first == "1",
            members: parts.dropFirst().compactMap { part in
                let pair = part.split(separator: "=", maxSplits: 1)
                guard pair.count == 2, let value = Int64(pair[1]) else { return nil }
                return Member(name: String(pair[0]), value: value)
            })
    }
}

/// The errors of SQL functions.
enum FunctionError: Error {
    /// A result that does not fit its type.
    case overflow(String)
    /// An argument of the wrong storage class.
    case argument(String)
    /// A value of an existing database that cannot be parsed.
    case stored(StoredValueError)
    /// A hierarchy that is too deep or cyclic.
    case depth
    /// A query as a value that has several rows.
    case severalRows
    /// An error of a registered function; the message starts with ``mark``.
    case app(String)

    /// The start of these error messages, which distinguishes them from messages of SQLite.
    static let mark = "outpost: "

    /// The message for SQLite.
    var message: String {
        switch self {
        case .overflow(let operation): "\(Self.mark)The result of \(operation) has too many digits."
        case .argument(let expected): "\(Self.mark)A function was given something else than \(expected)."
        case .stored(let error): "\(Self.mark)\(error)"
        case .depth:
            "\(Self.mark)The hierarchy is deeper than \(StatementBuilder.maxDepth) levels, or goes in circles."
        case .severalRows: "\(Self.mark)The result of a query is something else than one row."
        case .app(let message): message
        }
    }
}

extension [DatabaseValue] {
    func text(_ index: Int) throws -> String {
        switch self[index].storage {
        case .string(let text): return text
        // Text columns of existing databases with numeric affinity contain numbers.
        case .int64(let number): return String(number)
        case .double(let number): return "\(number)"
        default: throw FunctionError.argument("text")
        }
    }

    /// Returns the bytes of a BLOB, or of a text that an existing database stores instead.
    func bytes(_ index: Int) throws -> [UInt8] {
        switch self[index].storage {
        case .blob(let data): return [UInt8](data)
        case .string(let text): return [UInt8](text.utf8)
        default: throw FunctionError.argument("bytes")
        }
    }

    func integer(_ index: Int) throws -> Int64 {
        switch self[index].storage {
        case .int64(let number): return number
        case .double(let number): if let whole = Int64(exactly: number) { return whole }
        default: break
        }
        throw FunctionError.argument("a whole number")
    }

    func double(_ index: Int) throws -> Double {
        switch self[index].storage {
        case .int64(let number): return Double(number)
        case .double(let number): return number
        case .blob(let data) where data.elementsEqual("nan".utf8): return .nan
        default: throw FunctionError.argument("a number")
        }
    }

    func decimal(_ index: Int) throws -> ODataDecimal {
        guard case .blob(let key) = self[index].storage, let value = DecimalKey.decode(key) else {
            throw FunctionError.argument("a decimal")
        }
        return value
    }
}
