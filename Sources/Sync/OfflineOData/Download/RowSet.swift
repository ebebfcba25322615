/// A set of internal row ids as bits. A million rows take 128 KB, since ids are assigned consecutively.
struct RowSet: Sendable {
    private static let blockBits: Int64 = 1 << 16
    private var blocks: [Int64: [UInt64]] = [:]

    init() {}

    func contains(_ id: Int64) -> Bool {
        let (block, word, bit) = Self.place(of: id)
        guard let words = blocks[block] else { return false }
        return words[word] & bit != 0
    }

    mutating func insert(_ id: Int64) {
        let (block, word, bit) = Self.place(of: id)
        blocks[block, default: [UInt64](repeating: 0, count: Int(Self.blockBits / 64))][word] |= bit
    }

    private static func place(of id: Int64) -> (block: Int64, word: Int, bit: UInt64) {
        // Rounded towards minus infinity, so that every id has a place.
        let block = id >> 16
        let rest = Int(id & (blockBits - 1))
        return (block, rest / 64, 1 << UInt64(rest % 64))
    }
}
