extension Character {
    /// The number of terminal cells that the character takes: 0 to 2 (Unicode Standard Annex 11, *East Asian Width*).
    ///
    /// Terminals draw ideographs and emoji two cells wide, and combining marks within the cell before them.
    var cells: Int {
        let scalars = unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.isASCII, scalars.count == 1 { return first.value < 0x20 || first.value == 0x7F ? 0 : 1 }
        // The selector for emoji presentation makes a symbol wide, and two regional indicators are one flag.
        if scalars.contains("\u{FE0F}") || scalars.dropFirst().contains(where: \.isRegionalIndicator) { return 2 }
        return scalars.lazy.map(\.cells).max() ?? 0
    }
}

extension StringProtocol {
    /// The number of terminal cells that the text takes on one line.
    var cells: Int {
        let bytes = utf8
        return bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? bytes.count : reduce(0) { $0 + $1.cells }
    }

    /// Returns the text within a number of cells; an ellipsis shows that it was cut.
    func cut(toCells width: Int) -> String {
        if utf8.count <= width || cells <= width { return String(self) }
        var (text, room) = ("", Swift.max(0, width - 1))
        for character in self {
            room -= character.cells
            guard room >= 0 else { break }
            text.append(character)
        }
        return width > 0 ? text + "…" : ""
    }
}

extension Unicode.Scalar {
    fileprivate var isRegionalIndicator: Bool { (0x1F1E6...0x1F1FF).contains(value) }

    fileprivate var cells: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return value == 0xAD ? 1 : 0
        default: break
        }
        // The vowels and finals of Hangul join the syllable before them.
        if (0x1160...0x11FF).contains(value) { return 0 }
        return isWide ? 2 : 1
    }

    /// Whether the East Asian Width is wide or fullwidth, or the scalar is an emoji by default.
    private var isWide: Bool {
        if value < 0x1100 { return false }
        return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) }
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
        0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]
}
