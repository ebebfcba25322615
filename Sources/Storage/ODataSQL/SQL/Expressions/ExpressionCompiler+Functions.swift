import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The canonical functions (OData URL Conventions 4.01, 5.1.1.4 to 5.1.1.11).
extension ExpressionCompiler {
    func call(_ function: CanonicalFunction, _ arguments: [BoundExpression], type: TypeReference) throws -> Operand {
        if arguments.contains(where: \.type.isCollection) {
            return try collectionFunction(function, arguments, type: type)
        }
        switch function {
        case .now:
            usesNow = true
            return try .constant(.dateTimeOffset(options.now), .primitive(.dateTimeOffset))
        case .mindatetime: return try .constant(.dateTimeOffset(Self.leastInstant), .primitive(.dateTimeOffset))
        case .maxdatetime: return try .constant(.dateTimeOffset(Self.greatestInstant), .primitive(.dateTimeOffset))
        case .case: return try conditional(arguments, type)
        case .startswith, .contains, .endswith, .substringof, .concat, .indexof, .length, .substring, .tolower,
            .toupper, .trim, .matchesPattern, .replace:
            return try text(function, arguments.map { try textual($0) }, type: type)
        case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .date, .time, .totaloffsetminutes,
            .totalseconds:
            guard let first = arguments.first else { throw Self.unsupported(function.rawValue) }
            return try part(function, normalized(value(first)), type: type)
        case .round, .floor, .ceiling:
            guard let first = arguments.first else { throw Self.unsupported(function.rawValue) }
            return try rounding(function, normalized(value(first)), type: type)
        case .years: return try call(.year, arguments, type: type)
        case .months: return try call(.month, arguments, type: type)
        case .days: return try call(.day, arguments, type: type)
        case .hours: return try call(.hour, arguments, type: type)
        case .minutes: return try call(.minute, arguments, type: type)
        case .seconds: return try call(.second, arguments, type: type)
        case .geoDistance, .geoIntersects, .geoLength: return try geo(function, arguments, type: type)
        case .hassubset, .hassubsequence: throw Self.unsupported(function.rawValue)
        }
    }

    // MARK: Geo

    /// Returns a geo function, computed on the sphere for geography and in the plane for geometry.
    private func geo(
        _ function: CanonicalFunction, _ arguments: [BoundExpression], type: TypeReference
    ) throws -> Operand {
        let shapes = try arguments.map(value)
        guard shapes.allSatisfy({ $0.codec == .json }) else { throw Self.unsupported(function.rawValue) }
        // The text of a shape does not contain its family.
        let parts = shapes.map { "\(family(of: $0)), \($0.sql)" as SQLFragment }
        let list: SQLFragment = "\(list: parts)"
        switch function {
        case .geoLength: return Operand(sql: "outpost_geo_length(\(list))", type: type, codec: .double)
        case .geoDistance: return Operand(sql: "outpost_geo_distance(\(list))", type: type, codec: .double)
        default: return Operand(sql: "outpost_geo_intersects(\(list))", type: type, codec: .boolean)
        }
    }

    // MARK: Collections

    private func collectionFunction(
        _ function: CanonicalFunction, _ arguments: [BoundExpression], type: TypeReference
    ) throws -> Operand {
        var operands = try arguments.map(value)
        guard operands.allSatisfy({ $0.codec == .json || $0.codec == .integer }) else {
            throw Self.unsupported("\(function.rawValue) of \(arguments[0].type)")
        }
        let name: SQLFragment
        let codec: ColumnCodec
        var takesType = true
        switch function {
        case .hassubset: (name, codec) = ("outpost_members_hassubset", .boolean)
        case .hassubsequence: (name, codec) = ("outpost_members_hassubsequence", .boolean)
        case .contains: (name, codec) = ("outpost_members_contains", .boolean)
        case .startswith: (name, codec) = ("outpost_members_startswith", .boolean)
        case .endswith: (name, codec) = ("outpost_members_endswith", .boolean)
        case .indexof: (name, codec) = ("outpost_members_indexof", .integer)
        case .length: (name, codec, takesType) = ("outpost_members_length", .integer, false)
        case .concat: (name, codec, takesType) = ("outpost_members_concat", .json, false)
        case .substring: (name, codec, takesType) = ("outpost_members_substring", .json, false)
        default: throw Self.unsupported("\(function.rawValue) of a collection")
        }
        let isNullable = operands.contains(where: \.isNullable)
        if takesType { operands.append(try memberType(arguments[0].type)) }
        return Operand(
            sql: "\(name)(\(list: operands.map(\.sql)))", type: type, codec: codec, isNullable: isNullable)
    }

    /// Returns the name of the members' type as a string constant.
    func memberType(_ type: TypeReference) throws -> Operand {
        switch type.element {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            return try .constant(.string(primitive.rawValue), .primitive(.string))
        case .enumeration, .untyped: return try .constant(.string(""), .primitive(.string))
        default: throw Self.unsupported("functions on \(type)")
        }
    }

    /// Returns a value as a member of a JSON array, in the form of stored collections.
    func jsonMember(_ operand: Operand) throws -> SQLFragment {
        let value = try normalized(operand)
        switch value.codec {
        case .integer, .string: return value.sql
        case .double: return "json(outpost_real_json(\(value.sql)))"
        case .single: return "json(outpost_single_json(\(value.sql)))"
        case .boolean: return "json(CASE \(value.sql) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
        case .json: return "json(\(value.dynamic?.json ?? value.sql))"
        default: return try cast(value, to: .primitive(.string)).sql
        }
    }

    /// 0001-01-01T00:00:00Z.
    private static let leastInstant = ODataDateTimeOffset(seconds: -62_135_596_800)
    /// 9999-12-31T23:59:59.999999999999Z.
    private static let greatestInstant = ODataDateTimeOffset(
        seconds: 253_402_300_799, picoseconds: 999_999_999_999)

    // MARK: Strings

    private func textual(_ expression: BoundExpression) throws -> Operand {
        let operand = try value(expression)
        guard let dynamic = operand.dynamic else { return operand }
        return try typed(dynamic, as: .primitive(.string), place: operand.place)
    }

    private func text(_ function: CanonicalFunction, _ arguments: [Operand], type: TypeReference) throws -> Operand {
        func argument(_ index: Int) throws -> Operand {
            guard arguments.indices.contains(index) else { throw Self.unsupported(function.rawValue) }
            return arguments[index]
        }
        func string(_ index: Int) throws -> SQLFragment {
            let operand = try argument(index)
            guard operand.codec == .string else { throw Self.unsupported("\(function.rawValue) of \(operand.type)") }
            return operand.sql
        }
        let isNullable = arguments.contains(where: \.isNullable)
        func made(_ sql: SQLFragment, _ codec: ColumnCodec) -> Operand {
            Operand(sql: sql, type: type, codec: codec, isNullable: isNullable)
        }
        switch function {
        case .contains: return made("instr(\(try string(0)), \(try string(1))) > 0", .boolean)
        case .substringof: return made("instr(\(try string(1)), \(try string(0))) > 0", .boolean)
        case .startswith: return made(try prefix(string(0), argument(1)), .boolean)
        case .endswith: return made("outpost_endswith(\(try string(0)), \(try string(1)))", .boolean)
        case .concat: return made("outpost_concat(\(try string(0)), \(try string(1)))", .string)
        case .length: return made("outpost_length(\(try string(0)))", .integer)
        case .indexof: return made("outpost_indexof(\(try string(0)), \(try string(1)))", .integer)
        case .tolower: return made("outpost_lower(\(try string(0)))", .string)
        case .toupper: return made("outpost_upper(\(try string(0)))", .string)
        case .trim: return made("outpost_trim(\(try string(0)))", .string)
        case .replace: return made("outpost_replace(\(try string(0)), \(try string(1)), \(try string(2)))", .string)
        case .matchesPattern: return made("outpost_matches(\(try string(0)), \(try string(1)))", .boolean)
        default:
            let start = try argument(1).sql
            return arguments.count > 2
                ? made("outpost_substring(\(try string(0)), \(start), \(try argument(2).sql))", .string)
                : made("outpost_substring(\(try string(0)), \(start))", .string)
        }
    }

    /// Returns `startswith`. For a constant prefix, it is a range of strings, which can use an index.
    private func prefix(_ text: SQLFragment, _ prefix: Operand) throws -> SQLFragment {
        guard prefix.codec == .string else { throw Self.unsupported("startswith of \(prefix.type)") }
        guard case .string(let constant) = prefix.constant else {
            return "substr(\(text), 1, length(\(prefix.sql))) = \(prefix.sql) COLLATE BINARY"
        }
        guard let end = Self.successor(of: constant) else {
            return "\(text) COLLATE BINARY >= \(bind: constant.databaseValue)"
        }
        let literal = literals.isEmpty ? nil : self.literal(of: .string(constant), prefix.type)
        return """
            (\(text) COLLATE BINARY >= \(bind: constant.databaseValue, literal: literal, .value(prefix.type, .string)) \
            AND \(text) COLLATE BINARY < \(bind: end.databaseValue, literal: literal, .endOfPrefix))
            """
    }

    /// Returns the smallest string, by code points, that is greater than all strings that start with `prefix`;
    /// `nil` if there is none.
    static func successor(of prefix: String) -> String? {
        // The last character is nearly always ASCII and is replaced with its successor.
        if let last = prefix.utf8.last, last < 0x7F {
            return String(prefix.unicodeScalars.dropLast()) + String(UnicodeScalar(last + 1))
        }
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            guard last.value < 0x10FFFF else { continue }
            // Surrogates are not scalars, so that U+E000 follows U+D7FF.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
            var result = String.UnicodeScalarView(scalars)
            result.append(next)
            return String(result)
        }
        return nil
    }

    // MARK: Dates

    private func part(_ function: CanonicalFunction, _ operand: Operand, type: TypeReference) throws -> Operand {
        let x = operand.sql
        let isInstant = operand.codec == .dateTimeOffset || operand.codec == .dateTime
        let isValid: Bool
        let made: (SQLFragment, ColumnCodec)
        switch function {
        case .year: (isValid, made) = (isInstant || operand.codec == .date, ("outpost_year(\(x))", .integer))
        case .month: (isValid, made) = (isInstant || operand.codec == .date, ("outpost_month(\(x))", .integer))
        case .day: (isValid, made) = (isInstant || operand.codec == .date, ("outpost_day(\(x))", .integer))
        case .hour: (isValid, made) = (isInstant || operand.codec == .timeOfDay, ("outpost_hour(\(x))", .integer))
        case .minute: (isValid, made) = (isInstant || operand.codec == .timeOfDay, ("outpost_minute(\(x))", .integer))
        case .second: (isValid, made) = (isInstant || operand.codec == .timeOfDay, ("outpost_second(\(x))", .integer))
        case .fractionalseconds:
            (isValid, made) = (
                isInstant || operand.codec == .timeOfDay, ("outpost_fractionalseconds(\(x))", .decimalBytes)
            )
        case .date: (isValid, made) = (isInstant, ("outpost_date(\(x))", .date))
        case .time: (isValid, made) = (isInstant, ("outpost_time(\(x))", .timeOfDay))
        case .totaloffsetminutes:
            (isValid, made) = (operand.codec == .dateTimeOffset, ("outpost_totaloffsetminutes(\(x))", .integer))
        default: (isValid, made) = (operand.codec == .duration, ("outpost_totalseconds(\(x))", .decimalBytes))
        }
        guard isValid else { throw Self.unsupported("\(function.rawValue) of \(operand.type)") }
        return result(made.0, type, codec: made.1, operands: operand)
    }

    // MARK: Numbers

    private func rounding(_ function: CanonicalFunction, _ operand: Operand, type: TypeReference) throws -> Operand {
        let x = operand.sql
        switch (operand.codec, function) {
        case (.integer, _):
            var same = operand
            same.type = type
            return try converted(same, to: Operand.canonicalCodec(type))
        case (.decimalBytes, .round):
            return result("outpost_dec_round(\(x))", type, codec: .decimalBytes, operands: operand)
        case (.decimalBytes, .floor):
            return result("outpost_dec_floor(\(x))", type, codec: .decimalBytes, operands: operand)
        case (.decimalBytes, _):
            return result("outpost_dec_ceiling(\(x))", type, codec: .decimalBytes, operands: operand)
        case (.double, .round), (.single, .round):
            return result("outpost_real_round(\(x))", type, codec: .double, operands: operand)
        case (.double, .floor), (.single, .floor):
            return result("outpost_real_floor(\(x))", type, codec: .double, operands: operand)
        case (.double, _), (.single, _):
            return result("outpost_real_ceiling(\(x))", type, codec: .double, operands: operand)
        default: throw Self.unsupported("\(function.rawValue) of \(operand.type)")
        }
    }

    // MARK: case

    /// Returns `case(condition:value,…)`, which is null if no condition is true.
    private func conditional(_ arguments: [BoundExpression], _ type: TypeReference) throws -> Operand {
        guard arguments.count >= 2, arguments.count.isMultiple(of: 2) else { throw Self.unsupported("case") }
        let codec = Operand.canonicalCodec(type)
        var branches: [SQLFragment] = []
        for index in stride(from: 0, to: arguments.count, by: 2) {
            let branch = try value(arguments[index + 1])
            let isNull = branch.constant?.isNull == true
            let sql = isNull ? "NULL" : try converted(branch, to: codec).sql
            branches.append("WHEN \(try condition(arguments[index])) THEN \(sql)")
        }
        return Operand(sql: "CASE \(list: branches, by: " ") END", type: type, codec: codec)
    }
}
