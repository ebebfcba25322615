/// The page numbers of the frames that one connection wrote in its current transaction. Without shared memory,
/// the table covers all frames that the connection wrote or recovered.
struct FrameTable {
    private var base = 1
    private var pages: [UInt32] = []

    /// The page number of a frame; frames have SQLite's numbers, from 1.
    subscript(number: Int) -> UInt32? {
        let index = number - base
        return index >= 0 && index < pages.count ? pages[index] : nil
    }

    /// Records the page of a frame. A frame that is neither in the table nor directly behind its last frame
    /// starts a new table.
    mutating func set(_ number: Int, page: UInt32) {
        let index = number - base
        if index >= 0, index < pages.count {
            pages[index] = page
        } else {
            if index != pages.count || pages.isEmpty {
                removeAll()
                base = number
            }
            pages.append(page)
        }
    }

    mutating func removeAll() { pages.removeAll(keepingCapacity: true) }
}
