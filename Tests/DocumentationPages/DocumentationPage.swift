import Foundation

/// A page of the documentation, for tests that run its code or follow its links.
public struct DocumentationPage {
    /// A fenced block of code.
    public struct Block: Equatable, Sendable {
        /// The language behind the fence, or nothing.
        public var language: String
        /// The lines between the fences.
        public var lines: [String]

        /// The code as it stands in a file.
        public var code: String { lines.map { $0 + "\n" }.joined() }
    }

    /// The text of the page.
    public let text: String
    /// Its fenced blocks, in their order.
    public let blocks: [Block]

    /// Reads the blocks of a text.
    public init(_ text: String) {
        self.text = text
        var blocks: [Block] = []
        var open: Block?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if !line.hasPrefix("```") {
                open?.lines.append(line)
            } else if let block = open {
                blocks.append(block)
                open = nil
            } else {
                open = Block(language: String(line.dropFirst(3)), lines: [])
            }
        }
        self.blocks = blocks
    }

    /// Reads a page by its path in the package.
    public init(at path: String) throws {
        try self.init(String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8))
    }

    /// The folder of the package.
    public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The folder of the pages about the whole package.
    public static let guides = "Sources/Kit/OutpostKit/Documentation.docc"
}
