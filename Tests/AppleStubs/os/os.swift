// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct OSLogType: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt8
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static var `default`: OSLogType { Self(0x00) }
    public static var info: OSLogType { Self(0x01) }
    public static var debug: OSLogType { Self(0x02) }
    public static var error: OSLogType { Self(0x10) }
    public static var fault: OSLogType { Self(0x11) }
}

public struct OSLogPrivacy: Sendable {
    public static var auto: OSLogPrivacy { Self() }
    public static var `private`: OSLogPrivacy { Self() }
    public static var `public`: OSLogPrivacy { Self() }
    public static var sensitive: OSLogPrivacy { Self() }
}

public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
    ) {}
    public mutating func appendInterpolation<T: FixedWidthInteger>(
        _ number: @autoclosure @escaping () -> T, privacy: OSLogPrivacy = .auto
    ) {}
}

public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringInterpolation: OSLogInterpolation) {}
    public init(stringLiteral value: String) {}
}

public struct Logger: Sendable {
    public init() {}
    public init(subsystem: String, category: String) {}
    public func log(_ message: OSLogMessage) {}
    public func log(level: OSLogType, _ message: OSLogMessage) {}
    public func debug(_ message: OSLogMessage) {}
    public func info(_ message: OSLogMessage) {}
    public func notice(_ message: OSLogMessage) {}
    public func warning(_ message: OSLogMessage) {}
    public func error(_ message: OSLogMessage) {}
    public func fault(_ message: OSLogMessage) {}
}
