"use strict";
// Two conveniences; the page says everything without them: hints at the dots of a picture, and tables that sort.
(() => {
  const hint = document.getElementById("hint");

  const hide = (ring) => {
    hint.classList.remove("shown");
    ring.classList.remove("shown");
  };

  for (const block of document.querySelectorAll("script.hints")) {
    const picture = block.parentElement.querySelector(".plot > svg");
    const ring = picture.querySelector(".focus");
    const points = JSON.parse(block.textContent).points;
    let current = -1;

    const show = (place) => {
      current = place;
      const [x, y, words] = points[place];
      const box = picture.getBoundingClientRect();
      const left = x * box.width, top = y * box.height;
      ring.setAttribute("cx", left);
      ring.setAttribute("cy", top);
      ring.classList.add("shown");
      hint.textContent = words;
      hint.classList.add("shown");
      const room = document.documentElement.clientWidth - hint.offsetWidth - 8;
      const above = box.top + top - hint.offsetHeight - 14;
      hint.style.left = Math.max(8, Math.min(box.left + left - hint.offsetWidth / 2, room)) + "px";
      hint.style.top = (above > 8 ? above : box.top + top + 14) + "px";
    };

    const nearest = (event) => {
      const box = picture.getBoundingClientRect();
      let found = -1, least = 40 * 40;
      points.forEach(([x, y], place) => {
        const across = x * box.width - (event.clientX - box.left), down = y * box.height - (event.clientY - box.top);
        const apart = across * across + down * down;
        if (apart < least) [found, least] = [place, apart];
      });
      return found;
    };

    picture.addEventListener("pointermove", (event) => {
      const found = nearest(event);
      if (found < 0) hide(ring);
      else show(found);
    });
    picture.addEventListener("pointerleave", () => hide(ring));
    picture.addEventListener("blur", () => hide(ring));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide(ring);
      else if (event.key === "Home") show(0);
      else if (event.key === "End") show(points.length - 1);
      else if (step) show((current + step + points.length) % points.length);
      else return;
      event.preventDefault();
    });
  }

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };

  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));

  for (const table of document.querySelectorAll("table.sorts")) {
    table.tHead.addEventListener("click", (event) => {
      const heading = event.target.closest("th");
      if (!heading || !event.target.closest("button")) return;
      const order = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...table.tBodies[0].rows];
      rows.sort((one, other) => sign * compare(valueOf(one, heading.cellIndex), valueOf(other, heading.cellIndex)));
      table.tBodies[0].append(...rows);
    });
  }
})();
