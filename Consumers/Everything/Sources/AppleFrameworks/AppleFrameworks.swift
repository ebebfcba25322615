// Declarations with the names and the kinds of Apple's, as far as the app beside uses them. scripts/consumers.sh
// adds a type for every other name of Tests/ArchitectureTests/AppleNames.txt.

/// As in SwiftUI.
public protocol View {}

/// As in SwiftUI.
public struct Text: View {
    /// The text.
    public let content: String

    /// Makes a text.
    public init(_ content: String) { self.content = content }
}

/// As in SwiftUI.
@propertyWrapper
public struct State<Value> {
    /// The value.
    public var wrappedValue: Value

    /// Begins with a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
