import ODataModel

/// The canonical functions with the number and types of their arguments and results (OData URL Conventions 4.01,
/// 5.1.1.4 to 5.1.1.13).
extension BindingSession {
    func call(_ name: Identifier, _ arguments: [CommonExpression], in scope: Scope) throws(QueryError)
        -> BoundExpression
    {
        guard let function = CanonicalFunction(name: name.text) else {
            if name.text.lowercased() == "isdefined" { return try isDefined(arguments, at: name.offset, in: scope) }
            if let call = try custom(name, arguments, in: scope) { return call }
            if let meaning = try meaning(of: name, arguments) { return try bind(meaning, in: scope) }
            if arguments.isEmpty, let call = try declared(name, on: Self.current(of: scope), [], in: scope) {
                return call
            }
            throw unknownFunction(name)
        }
        if function == .case { return try conditional(arguments, at: name.offset, in: scope) }
        let counts = function.argumentCounts
        guard counts.contains(arguments.count) else {
            let wanted =
                counts.lowerBound == counts.upperBound
                ? "\(counts.lowerBound)" : "\(counts.lowerBound) or \(counts.upperBound)"
            throw typeError("\(function.rawValue) takes \(wanted) arguments, not \(arguments.count).", at: name.offset)
        }
        var bound: [BoundExpression] = []
        bound.reserveCapacity(arguments.count)
        for argument in arguments { bound.append(try bind(operand: argument, in: scope)) }
        return try apply(function, to: bound, Call(name: name, arguments: arguments))
    }

    /// Returns the error for an unknown function, with similar names.
    func unknownFunction(_ name: Identifier) -> QueryError {
        let names = CanonicalFunction.allCases.map(\.rawValue) + functions.scalar.keys + functions.expressions.keys
        let hint = ForeignSyntax.function(name.text)
        return QueryError(
            .unknownName, "There is no function \(name).", offset: name.offset,
            suggestions: hint == nil ? nearest(to: name.text, among: names) : [], hint: hint)
    }

    private func isDefined(
        _ arguments: [CommonExpression], at offset: Int?, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        guard arguments.count == 1, case .path(let path) = try bind(arguments[0], in: scope) else {
            throw typeError("isdefined takes one path.", at: offset)
        }
        return .isDefined(path)
    }

    // MARK: Registered functions

    /// Resolves a call of a registered function with positional arguments; `nil` if no function has the name.
    private func custom(
        _ name: Identifier, _ arguments: [CommonExpression], in scope: Scope
    ) throws(QueryError) -> BoundExpression? {
        guard let overloads = functions.scalar[name.text] else { return nil }
        guard let function = overloads.first(where: { $0.parameters.count == arguments.count }) else {
            throw wrongCount(of: arguments, name, overloads.map(\.parameters.count))
        }
        var bound: [BoundExpression] = []
        for (argument, type) in zip(arguments, function.parameters) {
            bound.append(try bind(argument, expecting: type, in: scope))
        }
        return try custom(function, bound, at: name.offset)
    }

    /// Returns the expression that a function is defined by; `nil` if no function has the name.
    private func meaning(of name: Identifier, _ arguments: [CommonExpression]) throws(QueryError) -> CommonExpression? {
        guard let function = functions.expressions[name.text] else { return nil }
        guard arguments.count == function.parameterCount else {
            throw wrongCount(of: arguments, name, [function.parameterCount])
        }
        return function.body(arguments)
    }

    private func wrongCount(of arguments: [CommonExpression], _ name: Identifier, _ counts: [Int]) -> QueryError {
        let counts = counts.sorted().map(String.init).joined(separator: " or ")
        let noun = counts == "1" ? "argument" : "arguments"
        return typeError("\(name) takes \(counts) \(noun), not \(arguments.count).", at: name.offset)
    }

    /// Resolves a call of a registered function with named arguments; `nil` if no function has the name.
    ///
    /// The value to which the function is bound is its first argument.
    func custom(
        _ name: Identifier, on binding: BoundExpression?, _ arguments: [CommonExpression.NamedArgument], in scope: Scope
    ) throws(QueryError) -> BoundExpression? {
        guard let overloads = functions.scalar[name.text] else { return nil }
        let given = Set(arguments.map(\.name.text))
        let first = binding == nil ? 0 : 1
        guard
            let function = overloads.first(where: {
                $0.parameters.count == first + given.count
                    && (given.isEmpty || Set($0.parameterNames.dropFirst(first)) == given)
            })
        else { throw typeError("No overload of \(name) takes these parameters.", at: name.offset) }
        var bound = binding.map { [$0] } ?? []
        for (parameter, type) in zip(function.parameterNames, function.parameters).dropFirst(first) {
            guard let argument = arguments.first(where: { $0.name.text == parameter }) else { continue }
            bound.append(try bind(argument.value, expecting: type, in: scope))
        }
        return try custom(function, bound, at: name.offset)
    }

    func custom(
        _ function: ScalarFunction, _ arguments: [BoundExpression], at offset: Int?
    ) throws(QueryError) -> BoundExpression {
        var bound: [BoundExpression] = []
        for (index, (argument, type)) in zip(arguments, function.parameters).enumerated() {
            if let adapted = adapted(argument, to: type) {
                bound.append(adapted)
            } else if let common = commonType(argument.type, type), common == type {
                bound.append(.cast(argument, type))
            } else if case .untyped = argument.type {
                bound.append(.cast(argument, type))
            } else {
                throw typeError(
                    "Argument \(index + 1) of \(function.name) must be \(type), not \(argument.type).", at: offset)
            }
        }
        return .custom(function, bound)
    }

    /// The name and arguments of a call, with their offsets for errors.
    private struct Call {
        var name: Identifier
        var arguments: [CommonExpression]

        func offset(_ index: Int) -> Int? {
            index < arguments.count ? arguments[index].offset ?? name.offset : name.offset
        }
    }

    private func apply(
        _ function: CanonicalFunction, to arguments: [BoundExpression], _ call: Call
    ) throws(QueryError) -> BoundExpression {
        if arguments.contains(where: \.type.isCollection),
            let result = try collectionFunction(function, arguments, call: call)
        {
            return result
        }
        var bound = arguments
        let result: PrimitiveType
        switch function {
        case .contains, .endswith, .startswith, .substringof:
            try require(.string, &bound, indices: 0...1, of: call)
            if functions.textForms?.searched != nil { bound = bound.map(searchable) }
            result = .boolean
        case .matchesPattern:
            try require(.string, &bound, indices: 0...1, of: call)
            result = .boolean
        case .concat:
            try require(.string, &bound, indices: 0...1, of: call)
            result = .string
        case .indexof:
            try require(.string, &bound, indices: 0...1, of: call)
            result = .int32
        case .length:
            try require(.string, &bound, indices: 0...0, of: call)
            result = .int32
        case .substring:
            try require(.string, &bound, indices: 0...0, of: call)
            for index in 1..<bound.count {
                try require([.int32, .int64, .int16, .byte, .sbyte], &bound, index: index, of: call)
            }
            result = .string
        case .replace:
            try require(.string, &bound, indices: 0...2, of: call)
            result = .string
        case .tolower, .toupper, .trim:
            try require(.string, &bound, indices: 0...0, of: call)
            result = .string
        case .year, .month, .day, .years, .months, .days:
            try require([.dateTimeOffset, .date, .dateTime], &bound, index: 0, of: call)
            result = .int32
        case .hour, .minute, .second, .hours, .minutes, .seconds:
            try require([.dateTimeOffset, .timeOfDay, .dateTime, .time], &bound, index: 0, of: call)
            result = .int32
        case .fractionalseconds:
            try require([.dateTimeOffset, .timeOfDay, .dateTime], &bound, index: 0, of: call)
            result = .decimal
        case .date:
            try require([.dateTimeOffset, .dateTime], &bound, index: 0, of: call)
            result = .date
        case .time:
            try require([.dateTimeOffset, .dateTime], &bound, index: 0, of: call)
            result = .timeOfDay
        case .totalseconds:
            try require(.duration, &bound, indices: 0...0, of: call)
            result = .decimal
        case .totaloffsetminutes:
            try require(.dateTimeOffset, &bound, indices: 0...0, of: call)
            result = .int32
        case .now, .maxdatetime, .mindatetime: result = .dateTimeOffset
        case .ceiling, .floor, .round: return try rounded(function, bound[0], call: call)
        case .geoDistance:
            try requireGeo(["Point"], &bound, index: 0, of: call)
            try requireGeo(["Point"], &bound, index: 1, of: call)
            result = .double
        case .geoIntersects:
            try requireGeo(["Point"], &bound, index: 0, of: call)
            try requireGeo(["Polygon"], &bound, index: 1, of: call)
            result = .boolean
        case .geoLength:
            try requireGeo(["LineString"], &bound, index: 0, of: call)
            result = .double
        case .hassubset, .hassubsequence:
            throw typeError("\(function.rawValue) needs two collections.", at: call.name.offset)
        case .case: return arguments[0]
        }
        if function == .geoDistance || function == .geoIntersects { try requireOneFamily(bound, call) }
        return .function(function, bound, .primitive(result))
    }

    // MARK: Arguments

    private func require(
        _ type: PrimitiveType, _ bound: inout [BoundExpression], indices: ClosedRange<Int>, of call: Call
    ) throws(QueryError) {
        // Most arguments have this type already, which is faster to check than a list of types.
        for index in indices where index < bound.count && bound[index].type.primitive != type {
            try require([type], &bound, index: index, of: call)
        }
    }

    /// Converts an argument to the first type of a list that fits.
    private func require(
        _ types: [PrimitiveType], _ bound: inout [BoundExpression], index: Int, of call: Call
    ) throws(QueryError) {
        guard index < bound.count else { return }
        if case .untyped = bound[index].type, case .path = bound[index] { return }
        if let type = bound[index].type.primitive, types.contains(type) { return }
        if let type = bound[index].type.primitive, type == .string, types.allSatisfy({ $0 == .duration }) {
            if let constant = adapted(bound[index], to: .primitive(.duration)) {
                bound[index] = constant
                return
            }
        }
        if case .constant(let value, _) = bound[index], value.isNull || !types.contains(.string) {
            for type in types {
                guard let constant = adapted(bound[index], to: .primitive(type)) else { continue }
                bound[index] = constant
                return
            }
        }
        let wanted = types.map(\.rawValue).joined(separator: " or ")
        throw typeError(
            "Argument \(index + 1) of \(call.name) must be \(wanted), not \(bound[index].type).", at: call.offset(index)
        )
    }

    private func requireGeo(
        _ kinds: [String], _ bound: inout [BoundExpression], index: Int, of call: Call
    ) throws(QueryError) {
        if case .constant(.null, _) = bound[index] {
            bound[index] = .constant(.null, .primitive(.geography))
            return
        }
        guard let type = bound[index].type.primitive, type.isGeo else {
            throw typeError(
                "Argument \(index + 1) of \(call.name) must be a geo value, not \(bound[index].type).",
                at: call.offset(index))
        }
        guard type == .geography || type == .geometry || kinds.contains(where: { type.rawValue.hasSuffix($0) }) else {
            throw typeError(
                "Argument \(index + 1) of \(call.name) must be a \(kinds.joined(separator: " or ")), not \(type.rawValue).",
                at: call.offset(index))
        }
    }

    private func requireOneFamily(_ bound: [BoundExpression], _ call: Call) throws(QueryError) {
        let families = Set(bound.compactMap { $0.type.primitive?.rawValue.hasPrefix("Edm.Geography") })
        guard families.count < 2 else {
            throw typeError("\(call.name) cannot mix geography and geometry.", at: call.name.offset)
        }
    }

    /// Resolves a rounding function. Integers are rounded as decimals, since the standard defines the functions
    /// only for decimals and doubles.
    private func rounded(
        _ function: CanonicalFunction, _ argument: BoundExpression, call: Call
    ) throws(QueryError) -> BoundExpression {
        if case .untyped = argument.type { return .function(function, [argument], argument.type) }
        guard let type = argument.type.primitive, type.isNumeric else {
            throw typeError("Argument 1 of \(call.name) must be a number, not \(argument.type).", at: call.offset(0))
        }
        let target = TypeReference.primitive(type.isInteger ? .decimal : type)
        return .function(function, [converted(argument, to: target)], target)
    }

    // MARK: Collections

    /// Resolves a function that is defined for collections too; `nil` for other functions.
    private func collectionFunction(
        _ function: CanonicalFunction, _ arguments: [BoundExpression], call: Call
    ) throws(QueryError) -> BoundExpression? {
        switch function {
        case .length:
            guard case .path(let path) = arguments[0] else {
                return .function(.length, arguments, .primitive(.int64))
            }
            return .count(path, variable: makeVariable("$this", type: path.type.element), filter: nil)
        case .substring:
            var bound = arguments
            for index in 1..<bound.count {
                try require([.int32, .int64, .int16, .byte, .sbyte], &bound, index: index, of: call)
            }
            return .function(.substring, bound, arguments[0].type)
        case .hassubset, .hassubsequence, .concat, .contains, .endswith, .startswith, .indexof:
            guard case .collection(let first) = arguments[0].type, case .collection(let second) = arguments[1].type
            else {
                throw typeError("\(function.rawValue) needs two collections.", at: call.name.offset)
            }
            let type = first.primitive == nil && second.primitive != nil ? arguments[1].type : arguments[0].type
            guard let left = adapted(arguments[0], to: type), let right = adapted(arguments[1], to: type) else {
                throw typeError("\(function.rawValue) cannot compare \(first) with \(second).", at: call.name.offset)
            }
            let result: TypeReference =
                switch function {
                case .concat: type
                case .indexof: .primitive(.int32)
                default: .primitive(.boolean)
                }
            return .function(function, [left, right], result)
        default: return nil
        }
    }

    // MARK: case

    /// Resolves `case`: all values are converted to one type.
    private func conditional(
        _ arguments: [CommonExpression], at offset: Int?, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        guard arguments.count >= 2, arguments.count % 2 == 0 else {
            throw typeError("case takes pairs of a condition and a value.", at: offset)
        }
        var bound: [BoundExpression] = []
        var common: TypeReference?
        for (index, argument) in arguments.enumerated() {
            if index % 2 == 0 {
                bound.append(try condition(argument, in: scope))
                continue
            }
            let value = try bind(argument, in: scope)
            bound.append(value)
            if case .constant(.null, _) = value { continue }
            guard let known = common else {
                common = value.type
                continue
            }
            if adapted(value, to: known) != nil { continue }
            guard let wider = commonType(known, value.type) else {
                throw typeError("case cannot be \(known) and \(value.type) at once.", at: argument.offset)
            }
            common = wider
        }
        let type = common ?? .untyped("Edm.Untyped")
        for index in stride(from: 1, to: bound.count, by: 2) {
            if case .untyped = type { continue }
            bound[index] = converted(bound[index], to: type)
        }
        return .function(.case, bound, type)
    }
}

extension CanonicalFunction {
    /// The permitted number of arguments.
    var argumentCounts: ClosedRange<Int> {
        switch self {
        case .now, .maxdatetime, .mindatetime: 0...0
        case .concat, .contains, .endswith, .startswith, .indexof, .matchesPattern, .substringof, .hassubset,
            .hassubsequence, .geoDistance, .geoIntersects:
            2...2
        case .substring: 2...3
        case .replace: 3...3
        case .case: 2...Int.max
        default: 1...1
        }
    }
}
