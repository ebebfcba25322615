import ODataModel

/// The canonical functions as methods, and the lambda operators (OData URL Conventions 4.01, 5.1.1.4 to 5.1.1.13).
extension QueryExpression {
    // MARK: Strings

    /// Calls the function `contains`.
    public func contains(_ other: QueryExpression) -> QueryExpression { .function(.contains, self, other) }
    /// Calls the function `startswith`.
    public func startsWith(_ prefix: QueryExpression) -> QueryExpression { .function(.startswith, self, prefix) }
    /// Calls the function `endswith`.
    public func endsWith(_ suffix: QueryExpression) -> QueryExpression { .function(.endswith, self, suffix) }
    /// Calls the function `matchesPattern` with a regular expression of ECMAScript.
    public func matches(pattern: QueryExpression) -> QueryExpression { .function(.matchesPattern, self, pattern) }
    /// Calls the function `concat`.
    public func concatenated(with other: QueryExpression) -> QueryExpression { .function(.concat, self, other) }
    /// Calls the function `indexof`: the position of another string, counted from 0; −1 if it does not occur.
    public func index(of other: QueryExpression) -> QueryExpression { .function(.indexof, self, other) }
    /// Calls the function `substring` from a position counted from 0.
    public func substring(from start: QueryExpression) -> QueryExpression { .function(.substring, self, start) }
    /// Calls the function `substring` for at most `length` characters.
    public func substring(from start: QueryExpression, length: QueryExpression) -> QueryExpression {
        .function(.substring, self, start, length)
    }
    /// The number of characters, by the function `length`.
    public var length: QueryExpression { .function(.length, self) }
    /// The result of the function `tolower`.
    public var lowercased: QueryExpression { .function(.tolower, self) }
    /// The result of the function `toupper`.
    public var uppercased: QueryExpression { .function(.toupper, self) }
    /// The result of the function `trim`.
    public var trimmed: QueryExpression { .function(.trim, self) }

    // MARK: Numbers

    /// The result of the function `round`.
    public var rounded: QueryExpression { .function(.round, self) }
    /// The result of the function `floor`.
    public var floor: QueryExpression { .function(.floor, self) }
    /// The result of the function `ceiling`.
    public var ceiling: QueryExpression { .function(.ceiling, self) }

    // MARK: Dates and times

    /// The result of the function `year`.
    public var year: QueryExpression { .function(.year, self) }
    /// The result of the function `month`.
    public var month: QueryExpression { .function(.month, self) }
    /// The result of the function `day`.
    public var day: QueryExpression { .function(.day, self) }
    /// The result of the function `hour`.
    public var hour: QueryExpression { .function(.hour, self) }
    /// The result of the function `minute`.
    public var minute: QueryExpression { .function(.minute, self) }
    /// The result of the function `second`.
    public var second: QueryExpression { .function(.second, self) }
    /// The result of the function `date`.
    public var date: QueryExpression { .function(.date, self) }
    /// The result of the function `time`.
    public var time: QueryExpression { .function(.time, self) }
    /// The result of the function `now`.
    public static var now: QueryExpression { .function(.now) }

    // MARK: Geography

    /// Calls the function `geo.distance`.
    public func distance(to other: QueryExpression) -> QueryExpression { .function(.geoDistance, self, other) }
    /// Calls the function `geo.intersects`.
    public func intersects(_ polygon: QueryExpression) -> QueryExpression { .function(.geoIntersects, self, polygon) }

    // MARK: Types

    /// Casts to a type by its name, such as `Edm.String` (`cast`).
    public func cast(to type: String) -> QueryExpression {
        QueryExpression(.typeTest(.cast, expression, Identifier(type)))
    }
    /// Tests for a type by its name (`isof`).
    public func isOf(_ type: String) -> QueryExpression {
        QueryExpression(.typeTest(.isOf, expression, Identifier(type)))
    }

    // MARK: Collections

    /// Returns a property of the value at the end of a path.
    public subscript(path: String) -> QueryExpression {
        guard case .path(let start) = expression else { return self }
        return QueryExpression(.path(start + Self.steps(path)))
    }

    /// The number of members (`$count`).
    public var count: QueryExpression { appending(.count(filter: nil, search: nil)) }

    /// Returns the number of members that satisfy a condition on a member's properties (`$count`).
    public func count(where condition: QueryExpression) -> QueryExpression {
        appending(.count(filter: condition.expression, search: nil))
    }

    /// Whether the collection has members (`any` without a condition).
    public var isNotEmpty: QueryExpression { appending(.any(variable: nil, predicate: nil)) }

    /// Returns whether a member satisfies a condition (`any`).
    ///
    /// - Parameters:
    ///   - variable: the name of the range variable, which must differ between nested lambdas.
    ///   - condition: returns the condition for a member.
    public func any(
        _ variable: String = "x", _ condition: (QueryExpression) -> QueryExpression
    ) -> QueryExpression {
        let predicate = condition(.property(variable)).expression
        return appending(.any(variable: Identifier(variable), predicate: predicate))
    }

    /// Returns whether every member satisfies a condition (`all`).
    ///
    /// - Parameters:
    ///   - variable: the name of the range variable, which must differ between nested lambdas.
    ///   - condition: returns the condition for a member.
    public func all(
        _ variable: String = "x", _ condition: (QueryExpression) -> QueryExpression
    ) -> QueryExpression {
        let predicate = condition(.property(variable)).expression
        return appending(.all(variable: Identifier(variable), predicate: predicate))
    }
}
