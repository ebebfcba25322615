import ODataModel

/// A buffer of JSON chunks for readers of one element at a time.
///
/// An incomplete element is scanned again only when its end has arrived, so that each byte is examined only a few
/// times. Bytes that have been read are discarded.
@usableFromInline
struct JSONChunks: Sendable {
    /// The bytes that have arrived and are still needed.
    @usableFromInline private(set) var bytes: [UInt8] = []
    /// The number of bytes that have been read.
    private(set) var consumed = 0
    /// The position of the bytes in the whole text.
    private(set) var origin = JSONPosition()
    private(set) var isComplete = false
    /// Whether the scanners take numbers that JSON does not have.
    var takesBareNumbers = false
    /// The finder of the end of an incomplete element, and the position up to which it has searched.
    private var finder: JSONBoundaryFinder?
    private var searched = 0
    /// The number of bytes from which nothing more can be read until a byte other than a blank follows; -1 for
    /// none.
    private var exhausted = -1

    /// The number of unread bytes.
    var pending: Int { bytes.count - consumed }

    mutating func append(_ chunk: some Sequence<UInt8>) {
        if consumed > 0 {
            // The rest is part of a single element, so that moving it is cheap.
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

    /// Returns whether scanning can succeed: the end of an incomplete element may have arrived.
    mutating func isReady() -> Bool {
        if isComplete { return true }
        guard var finder else {
            // After a member name without its colon, only a byte other than a blank justifies another scan.
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

    /// Continues scanning at the end of the last scan.
    ///
    /// - Parameters:
    ///   - state: the state of the previous scanner, which is replaced by the new state.
    ///   - body: a function that reads something and has no effect if it throws.
    /// - Returns: `nil` if the bytes end too early and more are needed.
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

    /// Returns a scanner over the bytes that continues at the end of the last scan.
    func scanner(over buffer: UnsafeBufferPointer<UInt8>, _ state: JSONScanner.State) -> JSONScanner {
        var scanner = JSONScanner(
            UnsafeRawBufferPointer(buffer), isComplete: isComplete, origin: origin, startingAt: consumed,
            resuming: state)
        scanner.takesBareNumbers = takesBareNumbers
        return scanner
    }

    /// Continues after the bytes that have been read.
    mutating func advance(to end: Int) {
        finder = nil
        exhausted = -1
        consumed = end
    }

    /// Starts the search for the end of an incomplete element.
    mutating func waitForEnd() {
        if finder == nil {
            finder = JSONBoundaryFinder()
            searched = consumed
        } else {
            // The finder reported an end that the scanner does not accept, so that only more bytes can help.
            finder = nil
            exhausted = bytes.count
        }
    }
}
