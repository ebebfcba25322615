import ODataModel

/// JSON that arrives in chunks, for readers that take one element at a time: an element that is cut is scanned again
/// only when its end has come, so that each byte is looked at a few times at most, and what has been read is let go.
@usableFromInline
struct JSONChunks: Sendable {
    /// What has arrived and is still needed.
    @usableFromInline private(set) var bytes: [UInt8] = []
    /// How much of the bytes has been read.
    private(set) var consumed = 0
    /// Where the bytes start in the whole text.
    private(set) var origin = JSONPosition()
    private(set) var isComplete = false
    /// Looks for the end of an element that ran over the end of the bytes, and how far it has looked.
    private var finder: JSONBoundaryFinder?
    private var searched = 0
    /// The number of bytes that nothing more can be read from, nor from blanks behind them; -1 for none.
    private var exhausted = -1

    /// How many bytes have not been read.
    var pending: Int { bytes.count - consumed }

    mutating func append(_ chunk: some Sequence<UInt8>) {
        if consumed > 0 {
            // What is left is part of one element: moving it is cheap.
            origin = bytes.withUnsafeBufferPointer {
                origin.advanced(over: UnsafeBufferPointer(rebasing: $0[..<consumed]))
            }
            bytes.removeFirst(consumed)
            searched -= consumed
            consumed = 0
            exhausted = -1
        }
        bytes.append(contentsOf: chunk)
    }

    mutating func finish() { isComplete = true }

    /// Whether it makes sense to scan: whether the rest of an element that was cut may have come.
    mutating func isReady() -> Bool {
        if isComplete { return true }
        guard var finder else {
            // A name whose colon has not come: what was read would be read again for each blank that comes instead.
            guard exhausted >= 0, bytes[exhausted...].allSatisfy({ " \t\n\r".utf8.contains($0) }) else { return true }
            exhausted = bytes.count
            return false
        }
        let start = searched
        let end = bytes.withUnsafeBufferPointer { finder.end(in: UnsafeBufferPointer(rebasing: $0[start...])) }
        searched = bytes.count
        self.finder = finder
        return end != nil
    }

    /// Scans on from where the last scan ended.
    ///
    /// - Parameters:
    ///   - state: what the scanner before knew; afterwards, what this one does.
    ///   - body: reads something, and changes nothing when it throws.
    /// - Returns: `nil` when the bytes end within it: more of them are needed then.
    mutating func scan<Result>(
        _ state: inout JSONScanner.State, _ body: (inout JSONScanner) throws(JSONError) -> Result
    ) throws(JSONError) -> Result? {
        do throws(JSONError) {
            let (result, end) = try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> (Result, Int) in
                var scanner = scanner(over: buffer, state)
                let result = try body(&scanner)
                state = scanner.state
                return (result, scanner.offset)
            }
            advance(to: end)
            return result
        } catch {
            guard error.needsMoreData else { throw error }
            waitForEnd()
            return nil
        }
    }

    /// A scanner that goes on where the last one ended, over the bytes.
    func scanner(over buffer: UnsafeBufferPointer<UInt8>, _ state: JSONScanner.State) -> JSONScanner {
        JSONScanner(
            UnsafeRawBufferPointer(buffer), isComplete: isComplete, origin: origin, startingAt: consumed,
            resuming: state)
    }

    /// Goes on behind what has been read.
    mutating func advance(to end: Int) {
        finder = nil
        exhausted = -1
        consumed = end
    }

    /// The bytes ended within an element: where its end is looked for from now on.
    mutating func waitForEnd() {
        if finder == nil {
            finder = JSONBoundaryFinder()
            searched = consumed
        } else {
            // An end was found where the scanner sees none: only more bytes can tell.
            finder = nil
            exhausted = bytes.count
        }
    }
}
