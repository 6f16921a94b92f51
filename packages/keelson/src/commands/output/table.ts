// Columns of text, as kubectl sets them: left, three blanks between, no line.

import { widthOf } from "./width.ts";

/** One column: its heading, and what it shows of a row. */
export interface Column<Row> {
  readonly heading: string;
  readonly of: (row: Row) => string;
  /** Marks a cell up, after its width is known. */
  readonly paint?: (text: string, row: Row) => string;
}

/** The widths of a table that grows: rows that come later keep to them as far as they fit. */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[];
  #widths: readonly number[];

  constructor(columns: readonly Column<Row>[]) {
    this.#columns = columns;
    this.#widths = columns.map(({ heading }) => heading.length);
  }

  /** The headings and the rows, each a line. */
  first(rows: readonly Row[]): string {
    this.#fit(rows);
    return this.#line(this.#columns.map(({ heading }) => heading)) + this.#lines(rows);
  }

  /** More rows, without headings. */
  more(rows: readonly Row[]): string {
    this.#fit(rows);
    return this.#lines(rows);
  }

  #fit(rows: readonly Row[]): void {
    this.#widths = this.#columns.map(({ of }, index) =>
      rows.reduce((width, row) => Math.max(width, widthOf(of(row))), this.#widths[index] ?? 0),
    );
  }

  #lines(rows: readonly Row[]): string {
    return rows
      .map((row) =>
        this.#line(
          this.#columns.map(({ of }) => of(row)),
          this.#columns.map(({ paint }) =>
            paint === undefined ? undefined : (text: string) => paint(text, row),
          ),
        ),
      )
      .join("");
  }

  #line(
    cells: readonly string[],
    paints: readonly (((text: string) => string) | undefined)[] = [],
  ) {
    const last = cells.findLastIndex((cell) => cell !== "");
    const shown = cells.slice(0, last + 1).map((cell, index) => {
      const painted = paints[index]?.(cell) ?? cell;
      // The last is not filled up: nobody wants blanks at the end of a line.
      return index === last
        ? painted
        : painted + " ".repeat((this.#widths[index] ?? 0) - widthOf(cell));
    });
    return `${shown.join("   ")}\n`;
  }
}
